#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages from a copy of the tracked files in the work tree, and runs lintian on
# them. A lintian error fails; warnings are printed.
# Needs the Build-Depends of packaging/debian/control, dpkg-dev and lintian (.ci/install --nightly).
# Usage: build-deb.sh [<directory for copy and packages>]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/deb}")
started=$SECONDS

rm -rf "$folder"
mkdir -p "$folder/calpe"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$folder/calpe"
cp -r "$folder/calpe/packaging/debian" "$folder/calpe/debian"
# Skip debug packages, which take minutes to pack.
export DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}"
(cd "$folder/calpe" && dpkg-buildpackage -us -uc -b) >"$folder/build.log" 2>&1 || {
  tail -60 "$folder/build.log"
  echo "build-deb: dpkg-buildpackage failed; see $folder/build.log"
  exit 1
}

lintian_status=0
lintian --allow-root --fail-on error --tag-display-limit 0 "$folder"/calpe_*.changes \
  >"$folder/lintian.log" 2>&1 || lintian_status=$?
cat "$folder/lintian.log"
for package in "$folder"/*.deb; do
  [[ $package == *-dbgsym_* ]] ||
    printf '%9d bytes  %s\n' "$(stat --format %s "$package")" "$(basename "$package")"
done
count() { grep -c "^$1: " "$folder/lintian.log" || true; }
echo "build-deb: lintian has $(count E) errors and $(count W) warnings, $((SECONDS - started)) s"
exit "$lintian_status"
