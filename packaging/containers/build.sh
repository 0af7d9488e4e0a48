#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in a Ceph image after install.sh: builds the plugin for the image's daemons, and installs it
# below /calpe/plugin, at the path where they look for it.
# Usage: build.sh [<option of CMake>...]
set -eu
cd /calpe

# CentOS has no AsmJit, and its compiler may be in a directory of its own.
if command -v dnf >/dev/null; then
  set -- -DCALPE_WITHOUT=jit "$@"
  PATH=/opt/rh/gcc-toolset-13/root/usr/bin:$PATH
fi
folder=$(ceph-osd --no-mon-config --show-config-value erasure_code_dir 2>/dev/null)
cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Release -DCALPE_UNITY=ON -DCALPE_TESTS=OFF \
  -DCALPE_TOOLS=OFF -DCALPE_BENCH=OFF -DCALPE_PYTHON=OFF -DCALPE_PLUGINS=ON \
  -DCALPE_CEPH_PLUGIN_DIR="${folder#/usr/}" "$@" >cmake.log 2>&1 || {
  cat cmake.log >&2
  exit 1
}
# CMake only reports a plugin that it leaves out.
grep '^-- calpe: .*plugin for Ceph\|^-- calpe: no Ceph plugin' cmake.log
if ! grep -q '^-- calpe: plugin for Ceph' cmake.log; then
  echo "calpe: the plugin cannot be built in this image; expected a Ceph version that it is" \
    "tested with, or CMAKE_ARGUMENTS=-DCALPE_CEPH_UNTESTED=ON" >&2
  exit 1
fi
cmake --build build --target ec_calpe
rm -rf plugin
DESTDIR=/calpe/plugin cmake --install build --component ceph --prefix /usr --strip
