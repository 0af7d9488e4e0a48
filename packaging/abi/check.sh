#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that programs linked with the library of packaging/abi/libcalpe1.abi work with this one.
# Additions pass. Removals, and changes of a type, size or offset, fail (docs/adr/0020).
# The library needs full debug information of its public functions, as in the preset dev.
# Usage: check.sh <library> [<headers folder> [<baseline>]]
#        check.sh --update <library>    rewrites the baseline; say why in the commit
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
update=false
if [[ ${1:-} == --update ]]; then
  update=true
  shift
fi
library=${1:?usage: check.sh [--update] <library> [<headers folder> [<baseline>]]}
headers=${2:-$here/../../include/calpe}
baseline=${3:-$here/libcalpe1.abi}

command -v abidw >/dev/null || {
  echo "abi: skipped, abidw is not installed (package abigail-tools)"
  exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Neither places in the sources nor paths: they would change the file with every edit.
abidw --headers-dir "$headers" --drop-private-types --exported-interfaces-only --no-show-locs \
  --no-corpus-path --no-comp-dir-path --no-elf-needed --type-id-style hash \
  --suppressions "$here/allowed.abignore" --out-file "$scratch/now.abi" "$library"
if ! grep -q "<function-decl name='calpe_encode'" "$scratch/now.abi"; then
  echo "abi: $library says nothing about the types of calpe_encode; it needs debug information (-g)"
  exit 2
fi
functions=$(grep -c "<function-decl .*elf-symbol-id=" "$scratch/now.abi")
if $update; then
  cp "$scratch/now.abi" "$baseline"
  echo "abi: baseline of $functions functions, $(wc -c <"$baseline") bytes"
  exit 0
fi

status=0
abidiff --no-added-syms --suppressions "$here/allowed.abignore" "$baseline" "$scratch/now.abi" ||
  status=$?
growing=$(sed -n 's/^ *name_regexp = \(\^calpe_.*\)/\1/p' "$here/allowed.abignore")
python3 -B "$here/grown.py" "$growing" "$baseline" "$scratch/now.abi" || status=1
if ((status != 0)); then
  echo "abi: not compatible with $baseline (status $status); docs/packages.md says what to do"
  exit 1
fi
echo "abi: $functions functions, all of the baseline's as they were"
