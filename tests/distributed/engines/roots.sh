#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian systems with storage engines that load ISA-L. Needs root.
# Usage: roots.sh make <engine>            creates the root of an engine, unless it exists
#        roots.sh run <engine> <command>   runs a command in it, with this repository at /calpe
#        roots.sh test <engine> <build>    runs its test with the libisal.so.2 of a build directory;
#                                          exits with 77 if the root was not made
# Engines: xrootd (Debian trixie) and saunafs (sid). A root takes less than 1 GB below build/roots.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source packaging/new-root.sh
usage="usage: roots.sh make <engine> | run <engine> <command> | test <engine> <build>"
action=${1:?$usage}
engine=${2:?$usage}
shift 2

case $engine in
xrootd)
  suite=trixie
  packages=(xrootd-server xrootd-client libxrdec1t64)
  ;;
saunafs)
  suite=sid
  packages=(saunafs-master saunafs-chunkserver saunafs-client saunafs-adm)
  ;;
*)
  echo "roots: the engine is $engine; expected xrootd or saunafs" >&2
  exit 2
  ;;
esac
root=$PWD/build/roots/$engine

case $action in
make) keep_root "$root" "$suite" python3 procps libisal2 "${packages[@]}" ;;
run) run_in_kept_root "$root" "$@" ;;
test)
  build=$(realpath -m --relative-to="$PWD" "${1:?$usage}")
  if [[ $EUID -ne 0 || ! -e $root/complete ]]; then
    echo "skipped: make the root first, as root: tests/distributed/engines/roots.sh make $engine"
    exit 77
  elif [[ $build == ../* ]]; then
    echo "skipped: $build is outside of the repository, which is all that the root sees"
    exit 77
  fi
  run_in_kept_root "$root" python3 -B "tests/distributed/engines/${engine}_test.py" "$build"
  ;;
*)
  echo "roots: the action is $action; $usage" >&2
  exit 2
  ;;
esac
