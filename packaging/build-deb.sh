#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages from a copy of the tracked files in the work tree, and runs lintian on
# them. A lintian error fails; warnings are printed.
# Usage: build-deb.sh [--suite <suite>] [<directory for copy and packages>]
# Without --suite, for this machine's Debian: needs the Build-Depends of packaging/debian/control,
# dpkg-dev and lintian (.ci/install --nightly). With it, for another one, such as trixie: needs root
# and debootstrap, keeps a root of 2 GB in build/deb-roots, and the directory must be below build.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/new-root.sh
suite=
if [[ ${1:-} == --suite ]]; then
  suite=${2:?usage: build-deb.sh [--suite <suite>] [<directory>]}
  shift 2
fi
folder=$(realpath -m "${1:-build/deb${suite:+-$suite}}")
started=$SECONDS

# in_suite <command>...: runs a command in the copy, in the root of the suite if one is given.
in_suite() {
  if [[ -z $suite ]]; then
    (cd "$folder/calpe" && "$@")
  else
    # shellcheck disable=SC2016
    run_in_kept_root "$PWD/build/deb-roots/$suite" env DEBIAN_FRONTEND=noninteractive \
      DEB_BUILD_OPTIONS="$DEB_BUILD_OPTIONS" sh -c 'cd "$1" && shift && "$@"' - \
      "${folder#"$PWD"/}/calpe" "$@"
  fi
}

rm -rf "$folder"
mkdir -p "$folder/calpe"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$folder/calpe"
cp -r "$folder/calpe/packaging/debian" "$folder/calpe/debian"
# Skip debug packages, which take minutes to pack.
export DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}"
if [[ -n $suite ]]; then
  keep_root "$PWD/build/deb-roots/$suite" "$suite" dpkg-dev lintian
  in_suite apt-get build-dep -y -qq --no-install-recommends ./packaging \
    >"$folder/root.log" 2>&1 || {
    tail -20 "$folder/root.log"
    echo "build-deb: $suite lacks packages to build with; see $folder/root.log"
    exit 1
  }
fi
in_suite dpkg-buildpackage -us -uc -b >"$folder/build.log" 2>&1 || {
  tail -60 "$folder/build.log"
  echo "build-deb: dpkg-buildpackage failed; see $folder/build.log"
  exit 1
}

lintian_status=0
in_suite sh -c 'lintian --allow-root --fail-on error --tag-display-limit 0 ../calpe_*.changes' \
  >"$folder/lintian.log" 2>&1 || lintian_status=$?
cat "$folder/lintian.log"
for package in "$folder"/*.deb; do
  [[ $package == *-dbgsym_* ]] ||
    printf '%9d bytes  %s\n' "$(stat --format %s "$package")" "$(basename "$package")"
done
count() { grep -c "^$1: " "$folder/lintian.log" || true; }
echo "build-deb: lintian has $(count E) errors and $(count W) warnings, $((SECONDS - started)) s"
exit "$lintian_status"
