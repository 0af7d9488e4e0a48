#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in a Ceph image with the plugin: loads it as a daemon does, and creates a code. Needs no
# cluster. ceph-erasure-code-tool has the daemons' version and symbols; dlopen alone would check
# neither. Its encode is not used: that of Ceph 20 writes no parity, with any plugin.
set -eu
export CEPH_CONF=/dev/null
version=$(ceph-osd --version)
version=${version#ceph version }
version=${version%% *}

tool() {
  ceph-erasure-code-tool --log-file=/dev/null "$@" 2>&1
}

if ! output=$(tool test-plugin-exists calpe); then
  echo "calpe: the plugin does not load in this image of Ceph $version;" \
    "expected a plugin built for exactly this version: build it from the same image" >&2
  echo "$output" >&2
  exit 1
fi
if ! output=$(tool validate-profile plugin=calpe,k=4,m=2 chunk_count) ||
  ! echo "$output" | grep -q '\b6$'; then
  echo "calpe: the plugin loads in Ceph $version but creates no code; expected 6 chunks" >&2
  echo "$output" >&2
  exit 1
fi
echo "calpe: the plugin loads in Ceph $version"
