#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian systems with the Ceph releases that this machine's Debian does not have. Needs root.
# Usage: roots.sh make <release>            creates the root of a release, unless it exists
#        roots.sh run <release> <command>   runs a command in it, with this repository at /calpe
# Releases: 18 (Debian trixie) and 20 (forky). A root takes about 2 GB below build/roots.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source packaging/new-root.sh
usage="usage: roots.sh make <release> | run <release> <command>"
action=${1:?$usage}
release=${2:?$usage}
shift 2

suite=$(suite_of_ceph "$release")
root=$PWD/build/roots/$release

# To build the plugin and the command, and to run a cluster with its clients.
packages=(
  g++ cmake ninja-build pkg-config binutils python3 procps
  libxxhash-dev libfmt-dev libasmjit-dev libssl-dev libcli11-dev nlohmann-json3-dev
  libgtest-dev libgmock-dev
  ceph-osd ceph-mon ceph-mgr ceph-common radosgw librados-dev libradospp-dev python3-rados
  python3-rbd libisal2 fio python3-boto3
)

case $action in
make) keep_root "$root" "$suite" "${packages[@]}" ;;
run) run_in_kept_root "$root" "$@" ;;
*)
  echo "roots: the action is $action; $usage" >&2
  exit 2
  ;;
esac
