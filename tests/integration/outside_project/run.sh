#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build and uses it from another project through the CMake package and pkg-config, in C
# and C++, shared and static. Then uses the sources with add_subdirectory. That is only configured,
# because it compiles the library again; CALPE_NIGHTLY=1 also builds and runs it.
# Usage: run.sh <build directory> <scratch directory>
set -euo pipefail
build=$1
scratch=$2
here=$(cd "$(dirname "$0")" && pwd)
source_dir=$(cd "$here/../../.." && pwd)
prefix=$scratch/prefix

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"

# The installed files must not refer to the build or the sources.
if grep -rlF -e "$build" -e "$source_dir" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig; then
  echo "these installed files have paths of the build"
  exit 1
fi

# expect_shared <yes or no> <program>: whether the program needs libcalpe.so.1
expect_shared() {
  local found=no
  readelf -d "$2" | grep -q 'NEEDED.*libcalpe' && found=yes
  if [[ $found != "$1" ]]; then
    echo "$2 needs libcalpe.so: $found; expected $1"
    exit 1
  fi
}

for static in OFF ON; do
  for language in c cxx; do
    folder=$scratch/${language}_$static
    cmake -G Ninja -S "$here/${language}_project" -B "$folder" -DCMAKE_PREFIX_PATH="$prefix" \
      -DOUTSIDE_STATIC=$static >"$folder.log"
    cmake --build "$folder" >>"$folder.log" || {
      cat "$folder.log"
      exit 1
    }
    expect_shared "$([[ $static == ON ]] && echo no || echo yes)" "$folder/outside_$language"
    "$folder/outside_$language"
  done
done

libdir=$(dirname "$(find "$prefix" -name calpe.pc)")
export PKG_CONFIG_PATH=$libdir
warnings=(-pedantic -Wall -Wextra -Werror)
read -ra flags <<<"$(pkg-config --cflags --libs calpe)"
LD_LIBRARY_PATH=$libdir/..
export LD_LIBRARY_PATH
cc -std=c99 "${warnings[@]}" "$here/c_project/outside.c" "${flags[@]}" -o "$scratch/pkgconfig_c"
c++ -std=c++20 "${warnings[@]}" "$here/cxx_project/outside.cpp" "${flags[@]}" \
  -o "$scratch/pkgconfig_cxx"
expect_shared yes "$scratch/pkgconfig_c"
"$scratch/pkgconfig_c"
"$scratch/pkgconfig_cxx"

# The linker prefers a shared library, so it is moved away. Then the whole program is static; the
# C library warns that its dlopen() then still needs shared libraries.
mkdir "$scratch/shared"
mv "$libdir"/../libcalpe.so* "$scratch/shared"
read -ra flags <<<"$(pkg-config --cflags --static --libs calpe)"
cc -std=c99 "${warnings[@]}" "$here/c_project/outside.c" "${flags[@]}" -o "$scratch/static_c"
c++ -std=c++20 "${warnings[@]}" "$here/cxx_project/outside.cpp" "${flags[@]}" \
  -o "$scratch/static_cxx"
cc "$here/c_project/outside.c" -static "${flags[@]}" -o "$scratch/whole_c" \
  2>"$scratch/whole.log" || {
  cat "$scratch/whole.log"
  exit 1
}
for program in static_c static_cxx whole_c; do
  expect_shared no "$scratch/$program"
  "$scratch/$program"
done
unset LD_LIBRARY_PATH

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
