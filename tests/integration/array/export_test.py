#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arrays served to other hosts and programs, as docs/array.md says.

Usage: export_test.py CALPE PLUGIN
TLS with keys, LUKS and mkfs.xfs. Nightly also iSCSI (tgt), and a guest on vhost-user-blk
(qemu-storage-daemon).
"""
import contextlib
import os
import pathlib
import re
import secrets
import socket
import subprocess
import sys

import guest
import lab
from lab import KIB, MIB, claim, run, say

LUN = "iqn.2026-11.example:array"
# The guest writes with its own checksum and reads it back after a restart of the server.
WRITE = """
set -e
dd if=/dev/urandom of=/payload bs=64k count=64 2> /dev/null
dd if=/payload of=/dev/vda bs=64k seek=16 conv=fsync 2> /dev/null
echo io $(cat /sys/block/vdb/queue/minimum_io_size /sys/block/vdb/queue/optimal_io_size)
echo sum $(md5sum < /payload) GUEST-DONE
"""
READ = """
echo sum $(dd if=/dev/vda bs=64k skip=16 count=64 2> /dev/null | md5sum) GUEST-DONE
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started(*command, log, is_ready):
    """Runs a server until the end of the block."""
    with open(log, "ab") as out:
        server = subprocess.Popen([str(part) for part in command], stdout=out, stderr=out)
    try:
        lab.wait_until(lambda: server.poll() is not None or is_ready(), f"{command[0]} is ready")
        claim(server.poll() is None, f"{command[0]}: {pathlib.Path(log).read_text()}")
        yield server
    finally:
        server.kill()  # tgtd ignores SIGTERM while it has targets
        server.wait()


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def tls_with_keys(trial):
    """A client with the key reads; others are refused."""
    keys = trial.folder / "keys.psk"
    keys.write_text(f"alice:{secrets.token_hex(32)}\n")
    keys.chmod(0o600)
    wrong = trial.folder / "wrong.psk"
    wrong.write_text(f"alice:{secrets.token_hex(32)}\n")
    port = free_port()
    with started("nbdkit", "--foreground", "--exit-with-parent", "--ipaddr", "127.0.0.1", "--port",
                 port, "--tls=require", f"--tls-psk={keys}", trial.plugin, *trial.members,
                 log=trial.folder / "tls.log", is_ready=lambda: listens(port)):
        size = run("nbdinfo", "--size", f"nbds://alice@127.0.0.1:{port}/?tls-psk-file={keys}")
        claim(int(size) > 0, size)
        said = run("nbdinfo", "--size", f"nbd://127.0.0.1:{port}/", expected=1)
        claim("requires TLS" in said, said)
        run("nbdinfo", "--size", f"nbds://alice@127.0.0.1:{port}/?tls-psk-file={wrong}",
            expected=1)
    say("TLS: the right key reads; no key and a wrong one are refused")


def luks_on_top(trial):
    """cryptsetup formats, qemu reads and writes; the members hold no plain text."""
    lab.need("cryptsetup", "qemu-io")
    key = trial.folder / "key"
    key.write_text("a secret")
    text = secrets.token_bytes(64 * KIB)
    plain = trial.folder / "plain"
    plain.write_bytes(text)
    with trial.start().fuse() as file:
        run("cryptsetup", "luksFormat", "--batch-mode", "--type", "luks1",
            "--pbkdf-force-iterations", "1000", "--key-file", key, file)
    image = ("driver=luks,key-secret=s,file.driver=nbd,file.server.type=unix,"
             f"file.server.path={trial.socket}")
    secret = ["--object", f"secret,id=s,file={key}"]
    run("qemu-io", *secret, "--image-opts", image, "-c", f"write -s {plain} 1M 64k", "-c", "flush")
    trial.stop()
    held = b"".join(member.read_bytes() for member in trial.members)
    claim(held.count(text[:16]) == 0, "a member holds plain text")
    for lost in trial.members[:2]:
        lost.unlink()
    trial.start(members=trial.members[2:])
    copy = trial.folder / "copy"
    run("qemu-img", "convert", *secret, "--image-opts", image, "-O", "raw", copy)
    claim(copy.read_bytes()[MIB:MIB + 64 * KIB] == text, "LUKS gives other bytes")
    trial.stop()
    say("LUKS: equal without two members, no plain text on the members")


def xfs_knows_the_stripe(trial):
    lab.need("mkfs.xfs")
    with trial.start().fuse() as file:
        said = run("mkfs.xfs", "-f", "-d", "su=64k,sw=4", file)
    claim("sunit=16     swidth=64 blks" in said, said)
    trial.stop()
    say("mkfs.xfs: stripe unit and width of the array")


def iscsi(trial):
    """tgt serves the array, libiscsi reads and writes it."""
    lab.need("tgtd", "tgtadm", "iscsi-readcapacity16", "qemu-io")
    port, channel = free_port(), os.getpid() % 30_000
    url = f"iscsi://127.0.0.1:{port}/{LUN}/1"

    def admin(*arguments):
        return run("tgtadm", "-C", channel, "--lld", "iscsi", *arguments)

    with trial.start().fuse() as file, \
         started("tgtd", "-f", "-C", channel, "--iscsi", f"portal=127.0.0.1:{port}",
                 log=trial.folder / "tgt.log", is_ready=lambda: listens(port)):
        admin("--mode", "target", "--op", "new", "--tid", "1", "--targetname", LUN)
        admin("--mode", "logicalunit", "--op", "new", "--tid", "1", "--lun", "1",
              "--backing-store", file)
        # In blocks of 512 bytes: a chunk of 64 KiB and a stripe of 256 KiB.
        admin("--mode", "logicalunit", "--op", "update", "--tid", "1", "--lun", "1", "--params",
              "optimal_xfer_gran=128,optimal_xfer_len=512")
        admin("--mode", "target", "--op", "bind", "--tid", "1", "--initiator-address", "127.0.0.1")
        said = run("iscsi-readcapacity16", url)
        claim(f"Total size:{file.stat().st_size}" in said, said)
        said = run("iscsi-inq", "-e", "1", "-c", "176", url)  # page 0xb0, block limits
        claim(re.search(r"optimal transfer length granularity:128\b", said, re.I) and
              re.search(r"optimal transfer length:512\b", said, re.I), said)
        run("qemu-io", "-f", "raw", "-c", "write -P 7 64k 1M", "-c", "flush", url)
    said = run("qemu-io", "-r", "-f", "raw", "-c", "read -P 7 64k 1M", trial.uri)
    claim("verification failed" not in said, said)
    trial.stop()
    say("iSCSI: written through tgt, read through NBD")


def vhost_user_blk(trial):
    """The guest's second disk is the array over NBD, for its I/O sizes only."""
    lab.need("qemu-storage-daemon")
    kernel = guest.unpacked_kernel(trial.folder)
    tree = trial.folder / "kernel/lib/modules"
    export = trial.folder / "vhost.sock"
    sums = []
    for number, script in enumerate((WRITE, READ)):
        archive = guest.make_initramfs(trial.folder, tree, f"vhost{number}",
                                       ("virtio_pci", "virtio_blk"), script)
        trial.start()
        with started("qemu-storage-daemon", "--blockdev",
                     f"driver=nbd,node-name=array,server.type=unix,server.path={trial.socket}",
                     "--export", "type=vhost-user-blk,id=e,node-name=array,writable=on,"
                     f"addr.type=unix,addr.path={export}",
                     log=trial.folder / "daemon.log", is_ready=export.exists):
            said = guest.boot(kernel, archive, "-object",
                              "memory-backend-memfd,id=memory,size=512M,share=on", "-machine",
                              "memory-backend=memory", "-chardev", f"socket,id=c,path={export}",
                              "-device", "vhost-user-blk-pci,chardev=c", "-drive",
                              f"if=none,id=n,format=raw,readonly=on,file={trial.uri}", "-device",
                              "virtio-blk-pci,drive=n,physical_block_size=4096,"
                              "min_io_size=65536,opt_io_size=262144")
        export.unlink(missing_ok=True)
        trial.stop()
        claim(number != 0 or "io 65536 262144" in said, f"I/O sizes of the guest:\n{said}")
        sums += re.findall(r"sum ([0-9a-f]{32})", said)
    claim(len(sums) == 2 and sums[0] == sums[1], f"sums {sums}")
    say("vhost-user-blk: a second guest reads what the first wrote; virtio-blk shows the stripe")


def main():
    lab.use_debians_python()
    lab.need("nbdkit", "nbdinfo", "nbdfuse")
    parts = [tls_with_keys, luks_on_top, xfs_knows_the_stripe]
    if lab.NIGHTLY:
        guest.need_guests()
        parts += [iscsi, vhost_user_blk]
    else:
        say("left to the nightly run: iSCSI, vhost-user-blk")
    for part in parts:
        # mkfs.xfs needs 300 MB; members are sparse.
        with lab.Lab(member=(160 if part is xfs_knows_the_stripe else 24) * MIB) as trial:
            part(trial)
    return 0


if __name__ == "__main__":
    sys.exit(main())
