# SPDX-License-Identifier: Apache-2.0
# Common part of the toolchain files for Debian's cross compilers. Callers set `cross_triplet` and
# `cross_emulator`. Built programs run under qemu user emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${cross_triplet}-gcc)
set(CMAKE_CXX_COMPILER ${cross_triplet}-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR ${cross_emulator} -L /usr/${cross_triplet})
set(CMAKE_LIBRARY_ARCHITECTURE ${cross_triplet})
# The second one holds target packages unpacked by .ci/install.
set(CMAKE_FIND_ROOT_PATH /usr/${cross_triplet} /usr/local/${cross_triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
