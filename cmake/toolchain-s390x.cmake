# SPDX-License-Identifier: Apache-2.0
# IBM Z: big-endian.
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(cross_triplet s390x-linux-gnu)
set(cross_emulator qemu-s390x)
include("${CMAKE_CURRENT_LIST_DIR}/toolchain-debian.cmake")
