#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nbd.ko of a real kernel on an array, in a qemu guest without KVM; nightly.

Usage: kernel_test.py CALPE PLUGIN
The guest is Debian's kernel with an initramfs of busybox, nbd-client and e2fsprogs. It opens two
connections, creates an ext4, writes, syncs, trims and unmounts. Then the host deletes two members,
and a second guest checks every byte. Exit code 77 outside the nightly run, and if something is
missing.
"""
import glob
import re
import shutil
import subprocess
import sys

import lab
from lab import claim, run, say

PORT = 10810
MODULES = ("nbd", "ext4", "virtio_net", "virtio_pci", "e1000")
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


def unpacked_kernel(folder):
    """Unpacks Debian's newest kernel package."""
    names = run("apt-cache", "pkgnames", "linux-image-6.1.0-").split()
    names = [name for name in names if re.fullmatch(r"linux-image-6\.1\.0-\d+-amd64", name)]
    if not names:
        lab.skip("no package of a Debian kernel is known")
    newest = max(names, key=lambda name: int(name.split("-")[3]))
    done = subprocess.run(["apt-get", "download", newest], cwd=folder, capture_output=True,
                          text=True)
    if done.returncode != 0:
        lab.skip(f"apt-get download {newest}: {done.stderr.strip()[-200:]}")
    run("dpkg", "-x", glob.glob(f"{folder}/*.deb")[0], folder / "kernel")
    return next((folder / "kernel/boot").glob("vmlinuz-*"))


def with_dependencies(modules, tree):
    """Module files in load order."""
    depends = {}
    for path in tree.rglob("*.ko"):
        depends[path.stem.replace("-", "_")] = path
    ordered = []

    def add(name):
        path = depends.get(name.replace("-", "_"))
        if path is None or path in ordered:
            return
        for needed in run("modinfo", "-F", "depends", path).strip().split(","):
            if needed:
                add(needed)
        ordered.append(path)

    for soft in ("crc32c_generic", "libcrc32c", *modules):
        add(soft)
    return ordered


def make_initramfs(folder, kernel_tree, script, name):
    root = folder / name
    for part in ("bin", "real", "proc", "sys", "dev", "mnt", "etc", "modules"):
        (root / part).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for program in ("nbd-client", "mke2fs", "e2fsck"):
        path = shutil.which(program) or shutil.which(program, path="/sbin:/usr/sbin")
        shutil.copy(path, root / "real" / program)  # not the version of busybox
        for library in re.findall(r"(/\S+)", run("ldd", path)):
            target = root / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
    loads = []
    for number, module in enumerate(with_dependencies(MODULES, kernel_tree)):
        shutil.copy(module, root / f"modules/{number:02}.ko")
        loads.append(f"insmod /modules/{number:02}.ko")
    (root / "etc/mtab").write_text("")
    init = root / "init"
    init.write_text("\n".join([
        "#!/bin/busybox sh", "/bin/busybox --install -s /bin", "export PATH=/bin",
        "mount -t proc proc /proc", "mount -t sysfs sys /sys", "mount -t devtmpfs dev /dev",
        *loads, "ip link set lo up", "ip link set eth0 up",
        "ip addr add 10.0.2.15/24 dev eth0", "sleep 1",
        f"/real/nbd-client 10.0.2.2 {PORT} /dev/nbd0 -b 4096 -C 2", "(", script.strip(), ")",
        "/real/nbd-client -d /dev/nbd0", "poweroff -f", ""]))
    init.chmod(0o755)
    archive = folder / f"{name}.cpio"
    files = run("find", ".", cwd=root)
    with open(archive, "wb") as out:
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=files.encode(),
                       stdout=out, stderr=subprocess.DEVNULL, check=True)
    return archive


def boot(kernel, initramfs):
    done = subprocess.run(
        ["qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot", "-kernel",
         kernel, "-initrd", initramfs, "-append", "console=ttyS0 quiet panic=1", "-nic",
         "user,model=e1000"], capture_output=True, text=True, timeout=600, errors="replace",
        stdin=subprocess.DEVNULL)
    claim("GUEST-DONE" in done.stdout, f"the guest did not finish:\n{done.stdout[-3000:]}")
    return done.stdout


def main():
    lab.use_debians_python()
    if not lab.NIGHTLY:
        lab.skip("runs only nightly (CALPE_NIGHTLY=1), as it takes minutes")
    lab.need("qemu-system-x86_64", "busybox", "nbd-client", "dpkg", "modinfo")
    with lab.Lab() as trial:
        kernel = unpacked_kernel(trial.folder)
        tree = trial.folder / "kernel/lib/modules"
        archives = [make_initramfs(trial.folder, tree, script, name)
                    for script, name in ((FIRST, "first"), (SECOND, "second"))]
        serve = ["nbdkit", "--foreground", "--exit-with-parent", "-i", "127.0.0.1", "-p", PORT,
                 "--filter=log", trial.plugin, *(f"member={path}" for path in trial.members),
                 f"logfile={trial.folder / 'requests'}"]
        for number, archive in enumerate(archives):
            server = subprocess.Popen([str(part) for part in serve])
            try:
                said = boot(kernel, archive)
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
