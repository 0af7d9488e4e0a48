#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build and uses it from another project through the CMake package and pkg-config, in C
# and C++. Then uses the sources with add_subdirectory. That is only configured, because it compiles
# the library again; CALPE_NIGHTLY=1 also builds and runs it.
# Usage: run.sh <build directory> <scratch directory>
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
  echo "add_subdirectory: configured only; CALPE_NIGHTLY=1 also builds it"
fi
