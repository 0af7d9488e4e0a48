#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A new Debian system, the packages, and the first hour of their users: makes a root with nothing in
# it by debootstrap, runs first-hour/inside.sh there, and removes the root. Needs root.
# Usage: first-hour.sh <folder with packages> [<scratch folder>]
# Release and mirrors are those of this machine's apt. The scratch folder keeps downloads.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath "${1:?usage: first-hour.sh <folder with packages> [<scratch folder>]}")
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
  echo "first-hour: no packages in $packages; packaging/build-deb.sh makes them"
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
echo "first-hour: a root with $(chroot "$root" dpkg-query -W | wc -l) packages," \
  "$((SECONDS - started)) s"

echo "$sources" >"$root/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(http|https)::' >"$root/etc/apt/apt.conf.d/10mirror" || true
cp /etc/hosts "$root/etc/hosts"
# Nothing that comes along is to run as a service.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
mkdir "$root/calpe"
cp "${debs[@]}" packaging/first-hour/* "$root/calpe"

# In namespaces of its own: mounts and whatever still runs are gone with it.
unshare --mount --pid --fork --kill-child bash -c '
  mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
  exec chroot "$1" env -i HOME=/tmp LANG=C.UTF-8 PATH="$PATH" bash /calpe/inside.sh' \
  - "$root"
rm -rf "$root"
echo "first-hour: green, $((SECONDS - started)) s"
