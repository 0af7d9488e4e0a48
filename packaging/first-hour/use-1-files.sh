# SPDX-License-Identifier: Apache-2.0
# The command: shards on three disks; one is lost and another one damaged.
step "calpe: protect, verify, lose, repair, restore"
mkdir -p photos/2024 disk1 disk2 disk3 disk4
head -c 5000000 /dev/urandom >photos/2024/beach.raw
echo "Calpe, from the sea" >photos/notes.txt
expect 0 "Any 2 shards may be lost" \
  calpe protect photos --data 4 --parity 2 -o disk1 -o disk2 -o disk3
expect 0 "6 of 6 shards are good" calpe verify disk1 disk2 disk3
rm -r disk2
expect 1 "4 of 6 shards are good" calpe verify disk1 disk3
expect 0 "repaired, " calpe repair disk1 disk3 -o disk4
printf damage | dd of=disk1/photos.s000.calpe bs=1 seek=50000 conv=notrunc status=none
expect 1 "5 of 6 shards are good" calpe verify disk1 disk3 disk4
quietly calpe restore disk1 disk3 disk4 -o restored
quietly diff -r photos restored
expect 0 "repaired, " calpe repair disk1 disk3 disk4
expect 0 "6 of 6 shards are good" calpe verify disk1 disk3 disk4
quietly calpe selftest --no-rates --backend cpu
