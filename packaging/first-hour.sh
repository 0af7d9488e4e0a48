#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the packages in a new Debian system: creates a minimal root with debootstrap, runs
# first-hour/inside.sh there, and removes it. Needs root.
# Usage: first-hour.sh <directory with packages> [<scratch directory>]
# The scratch directory keeps downloads.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/new-root.sh
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

new_root "$root" "$cache"
echo "first-hour: created a root with $(chroot "$root" dpkg-query -W | wc -l) packages," \
  "$((SECONDS - started)) s"
mkdir "$root/calpe"
cp "${debs[@]}" packaging/first-hour/* "$root/calpe"

in_root "$root" chroot "$root" env -i HOME=/tmp LANG=C.UTF-8 PATH="$PATH" bash /calpe/inside.sh
rm -rf "$root"
echo "first-hour: passed, $((SECONDS - started)) s"
