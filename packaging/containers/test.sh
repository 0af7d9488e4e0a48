#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the Containerfile with buildah on images of Debian's Ceph packages. Needs root.
# Usage: test.sh <release>...      18 or 20
# Each image has only the daemons, as an operator's image has. Their roots stay in build/containers,
# 1 GB each; images are removed.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/new-root.sh
scratch=$PWD/build/containers
storage=$scratch/storage
: "${1:?usage: test.sh <release>...}"

image() { buildah --root "$storage" --runroot "$scratch/run" "$@"; }

remove_images() {
  image rm --all >/dev/null 2>&1 || true
  image rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$storage" "$scratch/run"
}

# build <log> <option>...: the Containerfile, as an operator runs it. This isolation and network
# work without a container runtime.
build() {
  local log=$1
  shift
  image bud --layers --isolation chroot --network host --file packaging/containers/Containerfile \
    "$@" . >"$log" 2>&1
}

# must_fail <log> <sentence> <option>...
must_fail() {
  local log=$1 sentence=$2
  shift 2
  if build "$log" "$@"; then
    echo "containers: built an image; expected '$sentence', see $log"
    exit 1
  fi
  if ! grep -F -- "$sentence" "$log"; then
    tail -20 "$log"
    echo "containers: the build failed without '$sentence', see $log"
    exit 1
  fi
}

# import <release>: makes ceph:<release> from a root with the daemons.
import() {
  local root=$scratch/$1 container
  keep_root "$root" "$(suite_of_ceph "$1")" ceph-osd ceph-mon ceph-mgr
  container=$(image from scratch)
  cp --archive "$root/." "$(image mount "$container")"
  image commit --quiet "$container" "ceph:$1" >/dev/null
  image rm "$container" >/dev/null
}

# without_sources <release>: makes bare:<release>, the same without a source of packages.
without_sources() {
  local container
  container=$(image from "ceph:$1")
  : >"$(image mount "$container")/etc/apt/sources.list"
  image commit --quiet "$container" "bare:$1" >/dev/null
  image rm "$container" >/dev/null
}

# check <release>: in the derived image, and that it has neither compiler nor sources.
check() {
  local container mounted
  container=$(image from "calpe:$1")
  image run --isolation chroot "$container" -- /usr/libexec/calpe/check-ceph-plugin
  mounted=$(image mount "$container")
  if [[ -e $mounted/calpe/src || -e $mounted/usr/bin/g++ ]]; then
    echo "containers: calpe:$1 contains the compiler or the sources"
    exit 1
  fi
  image rm "$container" >/dev/null
}

remove_images
trap remove_images EXIT
for release in "$@"; do
  started=$SECONDS
  import "$release"
  own=(--build-arg "CEPH_IMAGE=localhost/ceph:$release")
  log=$scratch/log-$release
  for target in build calpe; do
    options=("${own[@]}" --tag "$target:$release")
    [[ $target == calpe ]] || options+=(--target build)
    build "$log-$target" "${options[@]}" || {
      tail -30 "$log-$target"
      echo "containers: the build failed, see $log-$target"
      exit 1
    }
  done
  check "$release"
  # The kept build directory makes these builds short.
  built=("${own[@]}" --build-arg "BUILD_IMAGE=localhost/build:$release")
  must_fail "$log-version" "but it claims to be $release.2.99 instead" "${built[@]}" \
    --build-arg "CMAKE_ARGUMENTS=-DCALPE_CEPH_VERSION=$release.2.99"
  must_fail "$log-untested" "the plugin cannot be built in this image" "${built[@]}" \
    --build-arg CMAKE_ARGUMENTS=-DCALPE_CEPH_VERSION=19.2.0
  without_sources "$release"
  must_fail "$log-sources" "but its package sources do not" \
    --build-arg "CEPH_IMAGE=localhost/bare:$release"
  echo "containers: Ceph $release passed, $((SECONDS - started)) s"
done
