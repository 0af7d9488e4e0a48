# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts that test in a new Debian system. Needs root.

# new_root <directory> <cache of downloads>: creates a minimal root with debootstrap. Release and
# mirrors are those of this machine's apt.
new_root() {
  local root=$1 cache=$2 release sources mirror
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016
  sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u)
  mirror=$(awk -v release="$release" '$3 == release { print $2; exit }' <<<"$sources")
  rm -rf "$root"
  mkdir -p "$cache"
  debootstrap --variant=minbase --cache-dir="$cache" "$release" "$root" "$mirror" \
    >"$root.log" || {
    tail -20 "$root.log"
    return 1
  }
  echo "$sources" >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(http|https)::' >"$root/etc/apt/apt.conf.d/10mirror" || true
  cp /etc/hosts "$root/etc/hosts"
  # Do not start services of installed packages.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
}

# in_root <directory> <command>...: runs a command outside of the root, with the mounts that
# programs in it need, in separate namespaces, so that mounts and processes end with it. The shell
# stays as the init process, to reap daemons that end.
in_root() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift && "$@"
    exit "$?"' - "$@"
}
