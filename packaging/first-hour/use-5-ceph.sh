# SPDX-License-Identifier: Apache-2.0
# The Ceph plugin, with Ceph's own tool: an object is encoded, loses two of six shards, and is
# decoded.
step "install Ceph's erasure code tool"
quietly apt-get install -y --no-install-recommends ceph-osd
step "ceph-plugin-calpe: encode, lose two shards, decode"
touch ceph.conf
export CEPH_CONF=$work/ceph.conf
quietly ceph-erasure-code-tool test-plugin-exists calpe
profile=plugin=calpe,k=4,m=2
cp photos/2024/beach.raw object
quietly ceph-erasure-code-tool encode "$profile" 4096 0,1,2,3,4,5 object
rm object object.0 object.3
quietly ceph-erasure-code-tool decode "$profile" 4096 1,2,4,5 object
quietly cmp --bytes=5000000 photos/2024/beach.raw object
