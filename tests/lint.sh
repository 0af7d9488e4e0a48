#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy on src/**/*.cpp and plugins/**/*.cpp with the compile commands of a build.
# Usage: lint.sh [--changed | --analyze] [build directory] [repository]
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
  # Exclude checks that contradict the house style or repeat -Wconversion.
  checks=("--checks=-*,clang-analyzer-*,bugprone-*,-bugprone-easily-swappable-parameters,\
-bugprone-narrowing-conversions,-bugprone-macro-parentheses,\
-bugprone-implicit-widening-of-multiplication-result")
fi

list_files() {
  if [[ $mode == changed ]]; then
    { git diff --name-only HEAD; git ls-files --others --exclude-standard; } |
      { grep -E '^(src|plugins)/.*\.cpp$' || true; } | while read -r file; do
      if [[ -f $file ]]; then realpath "$file"; fi
    done
  else
    find "$PWD/src" "$PWD/plugins" -name '*.cpp' 2>/dev/null || true
  fi
}

# Remove precompiled headers, so that a missing #include fails.
database=$(mktemp -d)
trap 'rm -rf "$database"' EXIT
sed -E 's/ -include [^ ]*cmake_pch[^ ]*//g' "$build/compile_commands.json" \
  >"$database/compile_commands.json"

# Skip files that this build does not compile (other architectures).
mapfile -t files < <(list_files | sort | while read -r file; do
  if grep -qF "\"$file\"" "$database/compile_commands.json"; then echo "$file"; fi
done)
if ((${#files[@]} == 0)); then
  echo "lint: no files to check"
  exit 0
fi
# The commands may contain warning options of g++ that clang does not know, and its --param.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$database" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument \
    "${checks[@]}" 2>/dev/null
echo "lint: ${#files[@]} files are clean"
