# SPDX-License-Identifier: Apache-2.0
# 64-bit ARM: the NEON path.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(cross_triplet aarch64-linux-gnu)
set(cross_emulator qemu-aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain-debian.cmake")
