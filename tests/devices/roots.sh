#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs `calpe selftest --gpu` and the device suites on OpenCL implementations that this machine does
# not have, in Debian systems of their own. Needs root.
# Usage: roots.sh make <name>           creates the root of an implementation, unless it exists
#        roots.sh run <name> <command>  runs a command in it, with this repository at /calpe
#        roots.sh test <name> <build>   runs the suites of a build directory; exits with 77 if the
#                                       root was not made
# Implementations: rusticl (Mesa's OpenCL on llvmpipe) and pocl, both of Debian trixie. A root takes
# less than 2 GB below build/roots.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/new-root.sh
usage="usage: roots.sh make <name> | run <name> <command> | test <name> <build>"
action=${1:?$usage}
implementation=${2:?$usage}
shift 2

case $implementation in
rusticl)
  packages=(mesa-opencl-icd)
  environment=(RUSTICL_ENABLE=llvmpipe)
  ;;
pocl)
  packages=(pocl-opencl-icd)
  environment=()
  ;;
*)
  echo "roots: the implementation is $implementation; expected rusticl or pocl" >&2
  exit 2
  ;;
esac
root=$PWD/build/roots/$implementation

# The name and version of the device, the programs, and how each of them sees the device.
run_suites() {
  local build=$1 failed=0 libraries=$1/roots/$implementation name setup program library
  mkdir -p "$libraries"
  # Libraries of this machine that the root does not have.
  for program in "$build"/tools/calpe "$build"/tests/calpe_devices_memory; do
    ldd "$program" | awk '$2 == "=>" { print $3 }' | while read -r library; do
      name=$(basename "$library")
      if [[ ! -e $root/usr/lib/x86_64-linux-gnu/$name ]]; then cp "$library" "$libraries"; fi
    done
  done
  local common=("LD_LIBRARY_PATH=$libraries" CALPE_TEST_BACKEND=opencl:0 CALPE_DEVICE_TUNE=0
    CALPE_TEST_SEED=1 RC_PARAMS=seed=1 CALPE_DEVICE_TIMEOUT_MS=500000 CALPE_TEST_SAMPLES=2
    "CALPE_CACHE_DIR=$libraries/cache" "${environment[@]}")
  for setup in direct copies gpu; do
    local how=() faults=$build/tests/devices/libcalpe_opencl_faults.so
    case $setup in
    copies) how=(CALPE_DEVICE_COPIES=1) ;;
    gpu) how=("CALPE_OPENCL_LIBRARY=$faults" CALPE_CL_GPU=1) ;;
    esac
    for program in "tools/calpe selftest --backend opencl:0 --no-rates" \
      tests/calpe_devices_lengths tests/calpe_devices_memory tests/calpe_use_devices_batches; do
      # shellcheck disable=SC2086
      if run_in_kept_root "$root" env "${common[@]}" "${how[@]}" "$build"/$program \
        >"$libraries/log" 2>&1; then
        echo "$implementation, $setup: passed ${program%% *}: $(tail -1 "$libraries/log")"
      else
        echo "$implementation, $setup: FAILED $program"
        tail -20 "$libraries/log"
        failed=1
      fi
    done
  done
  return "$failed"
}

case $action in
make) keep_root "$root" trixie ocl-icd-libopencl1 "${packages[@]}" ;;
run) run_in_kept_root "$root" "$@" ;;
test)
  build=$(realpath -m --relative-to="$PWD" "${1:?$usage}")
  if [[ $EUID -ne 0 || ! -e $root/complete ]]; then
    echo "skipped: make the root first, as root: tests/devices/roots.sh make $implementation"
    exit 77
  elif [[ $build == ../* ]]; then
    echo "skipped: $build is outside of the repository, which is all that the root sees"
    exit 77
  fi
  run_suites "$build"
  ;;
*)
  echo "roots: the action is $action; $usage" >&2
  exit 2
  ;;
esac
