#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a Windows program under Wine: wine.sh <prefix directory> <program> [argument]...
# The first call makes the prefix; calls at the same time wait for it.
set -euo pipefail
export WINEPREFIX=$1 WINEDEBUG=-all
shift
mkdir -p "$WINEPREFIX"
exec 9>"$WINEPREFIX.lock"
flock 9
if [[ ! -e $WINEPREFIX/is_complete ]]; then
  wine wineboot --init >"$WINEPREFIX.log" 2>&1 </dev/null 9>&-
  wineserver --wait 9>&-
  touch "$WINEPREFIX/is_complete"
fi
exec 9>&-

# Wine's services live longer than the program. They must not inherit the output, or ctest would
# wait for them.
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
wine "$@" >"$output" 2>&1 </dev/null || status=$?
cat "$output"
exit "$status"
