#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NBD clients work with an array: nbdinfo, qemu-io, qemu-img, nbdcopy, libnbd, fio.

Usage: clients_test.py CALPE PLUGIN
"""
import json
import os
import pathlib
import random
import re
import sys

import lab
from lab import KIB, MIB, claim, run, say


def flags_are_told(trial):
    info = json.loads(run("nbdinfo", "--json", trial.uri))["exports"][0]
    for flag in ("can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn",
                 "can_df", "is_read_only"):
        claim(flag in info, f"nbdinfo does not report {flag}")
    wanted = {"can_flush": True, "can_fua": True, "can_trim": True, "can_zero": True,
              "can_multi_conn": True, "is_read_only": False}
    got = {flag: info[flag] for flag in wanted}
    claim(got == wanted, f"nbdinfo: {got}; expected {wanted}")
    claim(info["block_size_preferred"] == 4096, f"preferred {info['block_size_preferred']}")
    claim(info["block_size_minimum"] == 1, f"minimum {info['block_size_minimum']}")
    say(f"nbdinfo: {info['export-size']} bytes, all flags")
    return info["export-size"]


def man_page_is_complete():
    """Each parameter of `nbdkit calpe --help` is in the man page."""
    page = pathlib.Path(__file__).resolve().parents[3] / "man/nbdkit-calpe-plugin.1"
    text = page.read_text().replace("\\-", "-")
    told = re.findall(r"^([a-z-]+)=", run("nbdkit", sys.argv[2], "--help"), re.MULTILINE)
    claim(len(told) >= 6, f"nbdkit --help only lists {told}")
    for name in told:
        claim(f"{name}=" in text, f"{page.name} does not have {name}=")
    say(f"man page: {len(told)} parameters")


def qemu_io_agrees(trial, size):
    """Unaligned writes, FUA, zero, discard and flush, compared with a model."""
    seed = random.randrange(1 << 32)
    say(f"qemu-io: seed {seed}")
    chance = random.Random(seed)
    area = 3 * MIB
    model = bytearray(area)
    commands = []
    for _ in range(60):
        length = chance.choice((1, 511, 512, 4095, 4096, 5000, 65536, 300_000))
        offset = chance.randrange(area - length)
        pattern = chance.randrange(1, 256)
        kind = chance.choice(("write", "write", "write -f", "write -z", "write -zu"))
        if kind.startswith("write -z"):
            commands.append(f"{kind} {offset} {length}")
            pattern = 0
        else:
            commands.append(f"{kind} -P {pattern} {offset} {length}")
        model[offset:offset + length] = bytes([pattern]) * length
        if chance.random() < 0.2:
            commands.append("flush")
    for _ in range(40):
        length = chance.randrange(1, 100_000)
        offset = chance.randrange(area - length)
        if len(set(model[offset:offset + length])) == 1:
            commands.append(f"read -P {model[offset]} {offset} {length}")
    out = run("qemu-io", "-f", "raw", *(part for each in commands for part in ("-c", each)),
              trial.uri)
    claim("failed" not in out.lower(), f"seed {seed}: {out}")
    client = trial.client()
    claim(client.pread(area, 0) == model, f"seed {seed}: bytes differ from the model")
    client.shutdown()
    run("qemu-io", "-f", "raw", "-c", f"discard {4 * MIB} {2 * MIB}", trial.uri)
    out = run("qemu-io", "-f", "raw", "-c", f"read -P 1 {size} 512", trial.uri, expected=1)
    claim("out of bounds" in out or "Input/output" in out or "Invalid" in out, out)


def images_agree(trial, size):
    image = trial.folder / "image"
    back = trial.folder / "back"
    chance = random.Random(7)
    with open(image, "wb") as file:
        file.truncate(size)
        for _ in range(20):
            file.seek(chance.randrange(size // KIB - 600) * KIB)
            file.write(chance.randbytes(chance.randrange(1, 500 * KIB)))
    run("nbdcopy", "--connections=4", image, trial.uri)
    run("nbdcopy", "--connections=4", trial.uri, back)
    claim(image.read_bytes() == back.read_bytes(), "nbdcopy: bytes differ")
    run("qemu-img", "compare", "-f", "raw", "-F", "raw", image, trial.uri)
    holes = [part for part in json.loads(run("qemu-img", "map", "-f", "raw", "--output=json",
                                             trial.uri)) if part["zero"]]
    claim(sum(part["length"] for part in holes) > size // 4,
          f"qemu-img map: {len(holes)} holes; expected the most of a sparse image")
    os.unlink(back)
    run("qemu-img", "convert", "-f", "raw", "-O", "raw", trial.uri, back)
    claim(image.read_bytes() == back.read_bytes(), "qemu-img convert: bytes differ")
    run("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", image, trial.uri)
    run("qemu-img", "compare", "-f", "raw", "-F", "raw", image, trial.uri)
    say(f"nbdcopy, qemu-img: {size >> 20} MiB there and back, {len(holes)} holes")
    return image


def one_flush_is_for_all(trial):
    """Multi-conn: a flush on one connection covers the writes of another."""
    writer, flusher = trial.client(), trial.client()
    claim(writer.can_multi_conn(), "multi-conn is not offered")
    writer.pwrite(b"x" * 9000, 12345)
    flusher.flush()
    claim(flusher.pread(9000, 12345) == b"x" * 9000, "the other connection reads wrong bytes")
    trial.kill()
    trial.start()
    claim(trial.client().pread(9000, 12345) == b"x" * 9000, "lost, though another flushed it")
    say("multi-conn: a flush covered the write of another connection")


def fio_verifies(trial, size):
    out = lab.fio(trial.uri, f"--size={min(size, 32 * MIB)}", "--rw=randwrite", "--iodepth=16",
                  "--bsrange=512-128k", "--bs_unaligned=0", "--blockalign=512", "--verify=crc32c",
                  "--verify_fatal=1", "--fsync=64", "--do_verify=1")
    claim(out["jobs"][0]["error"] == 0, "fio: verify failed")
    say("fio: random sizes verified")


def main():
    lab.use_debians_python()
    lab.need("nbdinfo", "nbdcopy", "qemu-io", "qemu-img", "fio")
    man_page_is_complete()
    with lab.Lab() as trial:
        trial.start()
        size = flags_are_told(trial)
        qemu_io_agrees(trial, size)
        image = images_agree(trial, size)
        trial.stop()
        for lost in trial.members[1:3]:
            lost.rename(lost.with_suffix(".away"))
        trial.start()
        run("qemu-img", "compare", "-f", "raw", "-F", "raw", image, trial.uri)
        say("without two members the image is the same")
        fio_verifies(trial, size)
        one_flush_is_for_all(trial)
    return 0


if __name__ == "__main__":
    sys.exit(main())
