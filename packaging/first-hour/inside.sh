#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run by first-hour.sh inside a new root, with the packages in the same directory: installs them
# with their dependencies, uses each of them, and removes them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
cd "$work"
export DEBIAN_FRONTEND=noninteractive
steps=0

step() {
  steps=$((steps + 1))
  printf '%4d s  %s\n' "$SECONDS" "$1"
}
quietly() {
  "$@" >"$work/log" 2>&1 || {
    cat "$work/log"
    echo "failed: $*"
    exit 1
  }
}
# expect <exit code> <text> <command>...
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$work/log" 2>&1 || status=$?
  if ((status != wanted)) || ! grep -qF -- "$text" "$work/log"; then
    cat "$work/log"
    echo "exit code $status; expected $wanted and the text '$text': $*"
    exit 1
  fi
}
names() { dpkg-deb --field "$1" Package; }

step "apt-get update"
quietly apt-get update
debs=("$here"/*.deb)
mapfile -t installed < <(for deb in "${debs[@]}"; do names "$deb"; done)
step "install ${installed[*]}"
quietly apt-get install -y --no-install-recommends "${debs[@]}"
step "  $(dpkg-query -W | wc -l) packages are installed"

for use in "$here"/use-*.sh; do
  # shellcheck source=/dev/null
  source "$use"
done

step "remove them and their dependencies"
quietly apt-get purge -y --autoremove "${installed[@]}"
left=$(find / -xdev \( -path "$here" -o -path "$work" -o -path /proc -o -path /var/log \
  -o -path /var/cache/apt \) -prune -o -iname '*calpe*' -print)
if [[ -n $left ]]; then
  echo "files left after removal: $left"
  exit 1
fi
quietly dpkg --audit
step "passed: $steps steps"
