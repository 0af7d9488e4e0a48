# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts that test in a new Debian system. Needs root.

# new_root <directory> <cache of downloads> [<suite>]: creates a minimal root with debootstrap.
# Mirrors are those of this machine's apt; the suite is this machine's unless another is given.
new_root() {
  local root=$1 cache=$2 own suite sources mirror script
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  suite=${3:-$own}
  # shellcheck disable=SC2016
  sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u)
  mirror=$(awk -v release="$own" '$3 == release { print $2; exit }' <<<"$sources")
  if [[ $suite != "$own" ]]; then
    sources="deb $mirror $suite main"
  fi
  # A suite newer than debootstrap has no script of its own. All newer suites are made like sid.
  script=/usr/share/debootstrap/scripts/$suite
  [[ -e $script ]] || script=/usr/share/debootstrap/scripts/sid
  rm -rf "$root"
  mkdir -p "$cache"
  debootstrap --variant=minbase --cache-dir="$cache" "$suite" "$root" "$mirror" "$script" \
    >"$root.log" || {
    tail -20 "$root.log"
    return 1
  }
  echo "$sources" >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(http|https)::' >"$root/etc/apt/apt.conf.d/10mirror" || true
  # A mirror may lag behind the dates in the index of a suite that is not released.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/20valid"
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

# keep_root <directory> <suite> <package>...: a root with packages that later runs use again.
# Creates it unless it is complete.
keep_root() {
  local root=$1 suite=$2 started=$SECONDS
  shift 2
  if [[ -e $root/complete ]]; then
    return
  fi
  mkdir -p "$(dirname "$root")"
  new_root "$root" "$(dirname "$root")/cache-$suite" "$suite"
  mkdir -p "$root/calpe"
  # shellcheck disable=SC2016
  in_root "$root" chroot "$root" env -i PATH="$PATH" DEBIAN_FRONTEND=noninteractive sh -c '
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' - "$@" \
    >"$root.log" 2>&1 || {
    tail -20 "$root.log"
    return 1
  }
  touch "$root/complete"
  echo "made $root, $((SECONDS - started)) s"
}

# run_in_kept_root <directory> <command>...: runs a command inside of a root that keep_root made,
# with the current directory at /calpe and the network of this machine.
run_in_kept_root() {
  local root=$1
  shift
  if [[ ! -e $root/complete ]]; then
    echo "$root is not complete; make it first" >&2
    return 2
  fi
  # shellcheck disable=SC2016
  in_root "$root" bash -c 'mount --bind "$1" "$2/calpe" && root=$2 && shift 2 &&
    chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH="$PATH" \
      sh -c "cd /calpe && exec \"\$@\"" - "$@"' - "$PWD" "$root" "$@"
}

# suite_of_ceph <release>: prints the Debian suite that has a release of Ceph.
suite_of_ceph() {
  case $1 in
  18) echo trixie ;;
  20) echo forky ;;
  *)
    echo "the release of Ceph is $1; expected 18 or 20" >&2
    return 2
    ;;
  esac
}
