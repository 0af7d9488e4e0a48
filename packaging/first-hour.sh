#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the packages in a new Debian system: creates a minimal root with debootstrap, runs
# first-hour/inside.sh there, and removes it. Needs root.
# Usage: first-hour.sh <directory with packages> [<scratch directory>]
# Release and mirrors are those of this machine's apt. The scratch directory keeps downloads.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath "${1:?usage: first-hour.sh <directory with packages> [<scratch directory>]}")
scratch=$(realpath -m "${2:-build/first-hour}")
root=$scratch/root
cache=$scratch/cache
started=$SECONDS

shopt -s nullglob
debs=()
for deb in "$packages"/*.deb; do
  [[ $deb == *-dbgsym_* ]] || debs+=("$deb")
done
if ((${#debs[@]} == 0)); then
  echo "first-hour: no packages in $packages; build them with packaging/build-deb.sh"
  exit 2
fi

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
  'Created-By: Packages' 'Origin: Debian' | sort -u)
mirror=$(awk -v release="$release" '$3 == release { print $2; exit }' <<<"$sources")

rm -rf "$root"
mkdir -p "$cache"
debootstrap --variant=minbase --cache-dir="$cache" "$release" "$root" "$mirror" \
  >"$scratch/debootstrap.log" || {
  tail -20 "$scratch/debootstrap.log"
  exit 1
}
echo "first-hour: created a root with $(chroot "$root" dpkg-query -W | wc -l) packages," \
  "$((SECONDS - started)) s"

echo "$sources" >"$root/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(http|https)::' >"$root/etc/apt/apt.conf.d/10mirror" || true
cp /etc/hosts "$root/etc/hosts"
# Do not start services of installed packages.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
mkdir "$root/calpe"
cp "${debs[@]}" packaging/first-hour/* "$root/calpe"

# Run in separate namespaces, so that mounts and processes end with it.
unshare --mount --pid --fork --kill-child bash -c '
  mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
  exec chroot "$1" env -i HOME=/tmp LANG=C.UTF-8 PATH="$PATH" bash /calpe/inside.sh' \
  - "$root"
rm -rf "$root"
echo "first-hour: passed, $((SECONDS - started)) s"
