#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a C or C++ file is not formatted as .clang-format says. Run by ctest as `format`.
# Usage: format.sh [--fix] [repository]
set -euo pipefail
mode=(--dry-run -Werror)
if [[ ${1:-} == --fix ]]; then
  mode=(-i)
  shift
fi
cd "${1:-.}"
# Version 14 by name: another version formats differently. One line per place is enough to find it.
find . \( -name build -o -name .git \) -prune -o \
  -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print0 |
  xargs -0 --no-run-if-empty clang-format-14 --style=file "${mode[@]}" 2>&1 |
  sed -nE 's|^\./([^:]*:[0-9]*):.* error: .*|\1: run tests/format.sh --fix|p' | uniq
