# SPDX-License-Identifier: Apache-2.0
# calpe_atomic_libraries: what std::atomic needs besides the C++ library. g++ for RISC-V calls
# functions of libatomic to exchange a single byte; for other processors it needs none.
include(CheckCXXSourceCompiles)

set(calpe_atomic_libraries)
check_cxx_source_compiles(
  "#include <atomic>
   std::atomic<bool> is_set;
   int main() { return is_set.exchange(true) ? 1 : 0; }"
  CALPE_HAS_ATOMIC_BYTES)
if(NOT CALPE_HAS_ATOMIC_BYTES)
  set(calpe_atomic_libraries atomic)
endif()
