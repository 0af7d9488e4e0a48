#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nbd.ko of a real kernel on an array, in a qemu guest without KVM; nightly.

Usage: kernel_test.py CALPE PLUGIN
The guest is Debian's kernel with an initramfs of busybox, nbd-client and e2fsprogs. It opens two
connections, creates an ext4, writes, syncs, trims and unmounts. Then the host deletes two members,
and a second guest checks every byte. Exit code 77 outside the nightly run, and if something is
missing.
"""
import re
import subprocess
import sys

import guest
import lab
from lab import claim, say

PORT = 10810
MODULES = ("nbd", "ext4", "virtio_net", "virtio_pci", "e1000")
ATTACH = f"""
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
sleep 1
/real/nbd-client 10.0.2.2 {PORT} /dev/nbd0 -b 4096 -C 2
"""
DETACH = "/real/nbd-client -d /dev/nbd0"
FIRST = """
set -e
/real/mke2fs -q -t ext4 /dev/nbd0
mount -t ext4 /dev/nbd0 /mnt
i=0; while [ $i -lt 200 ]; do
  dd if=/dev/urandom of=/mnt/f$i bs=1000 count=$((i % 60 + 1)) 2> /dev/null
  i=$((i + 1))
done
cd /mnt && md5sum f* > sums && sync && cd /
fstrim /mnt || true
umount /mnt
echo fua $(cat /sys/block/nbd0/queue/fua) GUEST-DONE
"""
SECOND = """
/real/e2fsck -fn /dev/nbd0 || exit
mount -t ext4 /dev/nbd0 /mnt
cd /mnt && md5sum -c sums | grep -vc ': OK'
[ "$(md5sum -c sums 2> /dev/null | grep -c ': OK')" = 200 ] && echo GUEST-DONE
cd /; umount /mnt
"""


def main():
    lab.use_debians_python()
    guest.need_guests()
    with lab.Lab() as trial:
        kernel = guest.unpacked_kernel(trial.folder)
        tree = trial.folder / "kernel/lib/modules"
        archives = [guest.make_initramfs(trial.folder, tree, name, MODULES,
                                        f"{ATTACH}({script})\n{DETACH}")
                    for script, name in ((FIRST, "first"), (SECOND, "second"))]
        serve = ["nbdkit", "--foreground", "--exit-with-parent", "-i", "127.0.0.1", "-p", PORT,
                 "--filter=log", trial.plugin, *(f"member={path}" for path in trial.members),
                 f"logfile={trial.folder / 'requests'}"]
        for number, archive in enumerate(archives):
            server = subprocess.Popen([str(part) for part in serve])
            try:
                said = guest.boot(kernel, archive)
            finally:
                server.terminate()
                server.wait()
            if number == 0:
                log = (trial.folder / "requests").read_text()
                counts = {word: len(re.findall(rf"\b{word} id=", log))
                          for word in ("Write", "Flush", "Trim", "Zero")}
                say(f"first guest: {counts}, {len(re.findall('fua=1', log))} FUA, "
                    f"{re.search(r'fua [01]', said)[0]}")
                claim(counts["Flush"] > 0 and counts["Write"] > 0, f"log filter saw {counts}")
                for lost in trial.members[1:5:3]:
                    lost.unlink()
        say("second guest: fsck clean, 200 files equal, without two members")
    return 0


if __name__ == "__main__":
    sys.exit(main())
