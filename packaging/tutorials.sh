#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs README.md, docs/install.md and the tutorials command by command in a new Debian system, as a
# user with sudo and a clone of the repository. Needs root.
# Usage: tutorials.sh [<scratch directory>] [<document>...]
# The scratch directory keeps downloads. CALPE_KEEP_ROOT=1 keeps the root, and uses one that exists.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/new-root.sh
scratch=$(realpath -m "${1:-build/tutorials}")
shift || true
root=$scratch/root
home=$root/home/reader
started=$SECONDS

if [[ -z ${CALPE_KEEP_ROOT:-} || ! -e $home ]]; then
  new_root "$root" "$scratch/cache"
  chroot "$root" apt-get update -qq
  chroot "$root" apt-get install -y -qq --no-install-recommends sudo >/dev/null
  chroot "$root" useradd --create-home --shell /bin/bash reader
  echo 'reader ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/reader"
  # The certificates that pip needs in the network of this machine, if it is told of any.
  if certificates=$(/usr/bin/python3 -m pip config --global get global.cert 2>/dev/null); then
    cp "$certificates" "$root/etc/pip-certificates.crt"
    printf '[global]\ncert = /etc/pip-certificates.crt\n' >"$root/etc/pip.conf"
  fi
  # The reader answers apt's questions with yes.
  echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/20yes"
fi
echo "tutorials: the root has $(chroot "$root" dpkg-query -W | wc -l) packages," \
  "$((SECONDS - started)) s"

# A clone, with the tracked files as they are now.
if [[ ! -e $home/calpe ]]; then
  git clone --quiet --depth 1 "file://$PWD" "$home/calpe"
fi
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$home/calpe"
chroot "$root" sh -c 'chown -R reader:reader ~reader'

in_root "$root" python3 -B packaging/tutorials/run.py "$root" "$@"
if [[ -z ${CALPE_KEEP_ROOT:-} ]]; then
  rm -rf "$root"
fi
echo "tutorials: passed, $((SECONDS - started)) s"
