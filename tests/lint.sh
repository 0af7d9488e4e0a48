#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over src/**/*.cpp, with the compile commands of a build folder.
# Usage: lint.sh [--changed | --analyze] [build folder] [repository]
#   --changed  only files that differ from the last commit
#   --analyze  the slow checks instead: the path-sensitive analyzer and all of bugprone (nightly)
set -euo pipefail
mode=all
case ${1:-} in
  --changed | --analyze)
    mode=${1#--}
    shift
    ;;
esac
build=$(cd "${1:-build/dev}" && pwd)
cd "${2:-.}"

checks=()
if [[ $mode == analyze ]]; then
  # Left out: what the house style decides otherwise, and what -Wconversion already says.
  checks=("--checks=-*,clang-analyzer-*,bugprone-*,-bugprone-easily-swappable-parameters,\
-bugprone-narrowing-conversions,-bugprone-macro-parentheses,\
-bugprone-implicit-widening-of-multiplication-result")
fi

list_files() {
  if [[ $mode == changed ]]; then
    { git diff --name-only HEAD; git ls-files --others --exclude-standard; } |
      { grep -E '^src/.*\.cpp$' || true; } | while read -r file; do
      if [[ -f $file ]]; then realpath "$file"; fi
    done
  else
    find "$PWD/src" -name '*.cpp'
  fi
}

# Files that this build does not compile (another architecture) have no compile command.
mapfile -t files < <(list_files | sort | while read -r file; do
  if grep -qF "\"$file\"" "$build/compile_commands.json"; then echo "$file"; fi
done)
if ((${#files[@]} == 0)); then
  echo "lint: no file to check"
  exit 0
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet "${checks[@]}" 2>/dev/null
echo "lint: ${#files[@]} files are clean"
