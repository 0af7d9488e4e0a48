#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the plugin with Ceph releases that this machine's Debian does not have, each in its own root
# (roots.sh), and prints a table. Needs root, 5 GB of disk and 5 GB of memory.
# Usage: releases.sh [RELEASE...]   (default: 18 20)
# Logs are in build/ceph-<release>/logs. Exit code 1: a check failed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
releases=("$@")
((${#releases[@]} != 0)) || releases=(18 20)
roots=tests/distributed/ceph/roots.sh
upgraded=build/ceph-upgrade
declare -A results
has_failed=0

# Builds the plugin and its tests in build/ceph-<release>, which later runs use again.
build_release() {
  local release=$1
  # shellcheck disable=SC2016
  "$roots" run "$release" sh -ec '
    cmake -G Ninja -S . -B "$1" -DCMAKE_BUILD_TYPE=Release -DCALPE_TESTS=ON -DCALPE_PYTHON=OFF \
      -DCALPE_BENCH=OFF -DCALPE_UNITY=ON
    ninja -C "$1" ec_calpe ec_calpe_other ec_calpe_twin calpe_ceph_host calpe_ceph_shards \
      calpe_command' \
    - "build/ceph-$release"
}

# run_test <release> <name in ctest>...
run_test() {
  local release=$1 names
  shift
  names=$(
    IFS='|'
    echo "$*"
  )
  "$roots" run "$release" ctest --test-dir "build/ceph-$release" --verbose --no-tests=error \
    -R "^($names)\$"
}

shipped_plugins() {
  sed -n 's/^CALPE_CEPH_SHIPPED_DIR:PATH=//p' "build/ceph-$1/CMakeCache.txt"
}

# run_scrub <release> [<option of scrub.py>...]
run_scrub() {
  local release=$1 built=build/ceph-$1
  shift
  "$roots" run "$release" python3 -B tests/integration/ceph/scrub.py "$built/tools/calpe" \
    "$built/plugins/ceph/libec_calpe.so" "$(shipped_plugins "$release")" "$@"
}

# run_cluster <release> <scenario> [<option>...]
run_cluster() {
  local release=$1 scenario=$2 built=build/ceph-$1 plugin shipped
  shift 2
  plugin=$built/plugins/ceph/libec_calpe.so
  case $scenario in
  twin | delta | wrong-delta) plugin=$built/tests/distributed/ceph/twin/libec_calpe.so ;;
  esac
  shipped=$(shipped_plugins "$release")
  "$roots" run "$release" python3 -B tests/integration/ceph/end_to_end.py "$scenario" "$plugin" \
    "$shipped" "$@"
}

# Daemons of the second release continue on the OSDs of the first, at the same path in both roots.
run_upgrade() {
  local status=0
  rm -rf "$upgraded"
  run_cluster "$1" upgrade-from --directory "$upgraded" &&
    run_cluster "$2" upgrade-to --directory "$upgraded" || status=$?
  rm -rf "$upgraded"
  return "$status"
}

# check <release> <name> <command>...: exit code 77 and tests that ctest skips are skipped. Counts
# the cases that Python's unittest or GoogleTest skips in a test.
check() {
  local release=$1 name=$2 log=build/ceph-$1/logs/${2// /-}.log started=$SECONDS status=0 result
  local skipped
  shift 2
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || status=$?
  if ((status == 77)) || grep -q '\*\*\*Skipped' "$log"; then
    result=$(grep -m 1 -o 'skipped: .*' "$log" || echo "skipped: see $log")
  elif ((status == 0)); then
    result="ok, $((SECONDS - started)) s"
    skipped=$(grep -c -E "\.\.\. skipped '|\[  SKIPPED \] .*\(.* ms\)" "$log" || true)
    if ((skipped != 0)); then
      result+=", $skipped cases skipped"
    fi
  else
    result="FAILED, $((SECONDS - started)) s"
    has_failed=1
    echo "== Ceph $release, $name: exit code $status; end of $log:"
    tail -40 "$log"
  fi
  results[$release,$name]=$result
  echo "Ceph $release, $name: $result"
}

check_release() {
  local release=$1
  check "$release" build build_release "$release"
  if [[ ${results[$release,build]} != ok* ]]; then
    return
  fi
  check "$release" vtable run_test "$release" ceph_vtable
  check "$release" symbols run_test "$release" ceph_symbols
  check "$release" tool run_test "$release" ceph_tool
  check "$release" host run_test "$release" calpe_ceph_host calpe_ceph_shards
  check "$release" legacy run_cluster "$release" plain
  check "$release" overwrites run_cluster "$release" overwrites
  check "$release" optimised run_cluster "$release" optimised
  check "$release" delta run_cluster "$release" delta
  check "$release" "wrong delta is found" run_cluster "$release" wrong-delta
  check "$release" "wrong rebuild is found" run_cluster "$release" twin
  check "$release" scrub run_scrub "$release"
  if ((release >= 20)); then
    check "$release" "scrub optimised" run_scrub "$release" --optimised
    check "$release" "scrub isa" run_scrub "$release" --optimised \
      --keys "plugin=isa k=4 m=2 stripe_unit=16384"
  fi
  check "$release" RGW run_cluster "$release" rgw
  check "$release" RBD run_cluster "$release" rbd
  check "$release" wide run_cluster "$release" wide
  check "$release" domains run_cluster "$release" domains
}

print_table() {
  local name release width=48
  local names=(build vtable symbols tool host legacy overwrites optimised delta
    "wrong delta is found" "wrong rebuild is found" scrub "scrub optimised" "scrub isa" RGW
    RBD wide domains upgrade)
  printf '\n%-24s' check
  for release in "${releases[@]}"; do
    printf "%-${width}s" "Ceph $release"
  done
  for name in "${names[@]}"; do
    printf '\n%-24s' "$name"
    for release in "${releases[@]}"; do
      printf "%-${width}s" "${results[$release,$name]:-not run}"
    done
  done
  echo
}

for release in "${releases[@]}"; do
  "$roots" make "$release"
  check_release "$release"
done
# Upgrade from each release in the list to the next.
results[${releases[0]},upgrade]="skipped: no older release in this run"
for ((i = 1; i < ${#releases[@]}; ++i)); do
  check "${releases[i]}" upgrade run_upgrade "${releases[i - 1]}" "${releases[i]}"
done
print_table
exit "$has_failed"
