#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in a Ceph image: installs compiler and headers to build the plugin with. Headers must have
# the version of the image's daemons, so no other version is installed.
set -eu

refuse() {
  echo "calpe: the image has Ceph $1, but its package sources do not;" \
    "expected $2 of that version: add a source that has it, or set BUILD_IMAGE" >&2
  exit 1
}

with_apt() {
  export DEBIAN_FRONTEND=noninteractive
  version=$(dpkg-query -W -f '${Version}' ceph-osd)
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "librados-dev=$version" \
    "libradospp-dev=$version" >/dev/null || refuse "$version" "librados-dev and libradospp-dev"
  apt-get install -y -qq --no-install-recommends g++ cmake ninja-build pkg-config \
    libxxhash-dev libasmjit-dev libssl-dev >/dev/null
}

# Never run by our tests; docs/ceph-containers.md has the sources of these names.
with_dnf() {
  version=$(rpm -q --qf '%{VERSION}' ceph-osd)
  system=$(rpm -E '%{rhel}')
  compiler=gcc-c++
  # That of CentOS 9 is older than g++ 12.
  [ "$system" != 9 ] || compiler=gcc-toolset-13-gcc-c++
  # Newer images are shipped without Ceph's repository.
  if [ ! -e /etc/yum.repos.d/ceph.repo ]; then
    rpm --import https://download.ceph.com/keys/release.asc
    rpm -U --force "https://download.ceph.com/rpm-$version/el$system/noarch/\
ceph-release-1-1.el$system.noarch.rpm"
  fi
  dnf install -y -q --setopt=install_weak_deps=False "librados-devel-$version" \
    "libradospp-devel-$version" || refuse "$version" "librados-devel and libradospp-devel"
  # The repository crb has ninja-build and xxhash-devel, or EPEL has them.
  dnf install -y -q --setopt=install_weak_deps=False --enablerepo=crb "$compiler" cmake \
    ninja-build xxhash-devel openssl-devel
}

if ! command -v ceph-osd >/dev/null; then
  echo "calpe: the image has no ceph-osd; expected an image of Ceph daemons in CEPH_IMAGE" >&2
  exit 1
fi
if command -v apt-get >/dev/null; then
  with_apt
elif command -v dnf >/dev/null; then
  with_dnf
else
  echo "calpe: the image has neither apt-get nor dnf; expected one of them" >&2
  exit 1
fi
