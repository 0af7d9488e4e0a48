# SPDX-License-Identifier: Apache-2.0
# What the toolchain files of Debian's cross compilers have in common. `cross_triplet` and
# `cross_emulator` are set before; programs of the build run under qemu's user emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${cross_triplet}-gcc)
set(CMAKE_CXX_COMPILER ${cross_triplet}-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR ${cross_emulator} -L /usr/${cross_triplet})
set(CMAKE_LIBRARY_ARCHITECTURE ${cross_triplet})
# In the second are packages of the target that .ci/install unpacked.
set(CMAKE_FIND_ROOT_PATH /usr/${cross_triplet} /usr/local/${cross_triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
