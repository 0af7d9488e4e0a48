# SPDX-License-Identifier: Apache-2.0
# The nbdkit plugin: an array is written, loses two of six members, and returns the data.
step "install an NBD client"
quietly apt-get install -y --no-install-recommends libnbd-bin
step "nbdkit-plugin-calpe: an array that loses two members"
quietly calpe array create --data 4 --parity 2 --member-size 24M m0 m1 m2 m3 m4 m5
quietly nbdcopy -- photos/2024/beach.raw [ nbdkit calpe m0 m1 m2 m3 m4 m5 ]
rm m1 m4
quietly nbdcopy -- [ nbdkit calpe m0 m2 m3 m5 ] copy.raw
quietly cmp --bytes=5000000 photos/2024/beach.raw copy.raw
