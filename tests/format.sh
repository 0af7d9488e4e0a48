#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails if a C or C++ file does not follow .clang-format. Run by ctest as `format`.
# Usage: format.sh [--fix] [--changed] [repository]
#   --fix      format the files instead
#   --changed  only files that differ from the last commit
set -euo pipefail
mode=(--dry-run -Werror)
if [[ ${1:-} == --fix ]]; then
  mode=(-i)
  shift
fi
list=all
if [[ ${1:-} == --changed ]]; then
  list=changed
  shift
fi
cd "${1:-.}"

list_files() {
  if [[ $list == changed ]]; then
    { git diff -z --name-only --diff-filter=d --relative HEAD
      git ls-files -z --others --exclude-standard; } |
      { grep -zE '\.(hpp|cpp|h|c)$' || true; } | sort -z | sed -z 's|^|./|'
  else
    find . \( -name build -o -name .git \) -prune -o \
      -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print0
  fi
}

# Use version 14, because others format differently. Print one line per position.
list_files |
  xargs -0 --no-run-if-empty clang-format-14 --style=file "${mode[@]}" 2>&1 |
  sed -nE 's|^\./([^:]*:[0-9]*):.* error: .*|\1: run tests/format.sh --fix|p' | uniq
