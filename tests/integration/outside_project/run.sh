#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a folder of its own and uses it from outside, through the CMake package and
# through pkg-config, in C and in C++. Then its sources as a part of another project: configured
# only, since that compiles the library once more; with CALPE_NIGHTLY=1 built and run.
# Usage: run.sh <build folder> <scratch folder>
set -euo pipefail
build=$1
scratch=$2
here=$(cd "$(dirname "$0")" && pwd)
prefix=$scratch/prefix

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"

for language in c cxx; do
  cmake -G Ninja -S "$here/${language}_project" -B "$scratch/$language" \
    -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/$language.log"
  cmake --build "$scratch/$language" >>"$scratch/$language.log" || {
    cat "$scratch/$language.log"
    exit 1
  }
  "$scratch/$language/outside_$language"
done

libdir=$(dirname "$(find "$prefix" -name calpe.pc)")
export PKG_CONFIG_PATH=$libdir
export LD_LIBRARY_PATH=$libdir/..
read -ra flags <<<"$(pkg-config --cflags --libs calpe)"
cc -std=c99 -pedantic -Wall -Wextra -Werror "$here/c_project/outside.c" "${flags[@]}" \
  -o "$scratch/pkgconfig_c"
c++ -std=c++20 -pedantic -Wall -Wextra -Werror "$here/cxx_project/outside.cpp" "${flags[@]}" \
  -o "$scratch/pkgconfig_cxx"
"$scratch/pkgconfig_c"
"$scratch/pkgconfig_cxx"

source_dir=$(cd "$here/../../.." && pwd)
cmake -G Ninja -S "$here/subdirectory_project" -B "$scratch/subdirectory" \
  -DCALPE_SOURCE_DIR="$source_dir" >"$scratch/subdirectory.log"
if [[ ${CALPE_NIGHTLY:-} == 1 ]]; then
  cmake --build "$scratch/subdirectory" >>"$scratch/subdirectory.log" || {
    tail -40 "$scratch/subdirectory.log"
    exit 1
  }
  "$scratch/subdirectory/outside_subdirectory"
else
  echo "add_subdirectory: configured; CALPE_NIGHTLY=1 builds it, too"
fi
