# SPDX-License-Identifier: Apache-2.0
# 64-bit POWER, little-endian.
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(cross_triplet powerpc64le-linux-gnu)
set(cross_emulator qemu-ppc64le)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain-debian.cmake")
