#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs calpe remote on real servers on loopback: Swift's s3api, radosgw, rclone's S3 and WebDAV.

Usage: real_servers.py CALPE
A 4+2 set over six places: protect, update of 1 %, two services stopped, restore, repair onto new
places. It prints bytes, memory and times. CALPE_NIGHTLY=1 uses 1 GiB and adds radosgw; otherwise a
local directory takes its place. Exit code 77: a server is not installed, or root is missing.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "files"))
# pylint: disable=wrong-import-position
import real_clouds as clouds  # noqa: E402
from command import DAMAGED, GOOD, IO, Failure, expect, is_nightly  # noqa: E402
from remote import is_equal  # noqa: E402

SKIPPED = 77
INSIDE = "--in-namespace"
MIB = 1 << 20
MEMORY_MAX = 256 * MIB
SECONDS_MAX = 1800
DATA_BYTES = (1024 if is_nightly() else 4) * MIB
FILES = 100  # each is 1 % of the data
# Without CALPE_NIGHTLY, a segment has 6 % of the data, because stripes have at least 256 KiB.
UPDATE_PERCENT_MAX = 3 if is_nightly() else 24
# Characters that a signature, a URL or XML encodes.
PREFIX = "sea & sand/2024+ü %41'\"<x>~=;,/calpe"


class Places:
    """The servers, the configuration files for them, and the locations for calpe."""

    def __init__(self, folder, with_radosgw):
        self.folder = folder
        self.servers, self.at = {}, {}
        try:
            self._start(folder, with_radosgw)
        except BaseException:
            self.stop(list(self.servers))
            raise

    def _start(self, folder, with_radosgw):
        s3 = {"swift": clouds.Swift(folder / "swift"), "s3": clouds.rclone_server("s3", folder)}
        self.servers.update(s3)
        if with_radosgw:
            s3["radosgw"] = self.servers["radosgw"] = clouds.Radosgw(folder / "ceph")
        self.servers["webdav"] = clouds.rclone_server("webdav", folder)
        self._configure(folder, s3)
        for name in s3:
            if name != "s3":  # its buckets are directories
                self.rclone("mkdir", f"{name}:{clouds.BUCKET}")
            self.at[name] = f"s3://{name}@{clouds.BUCKET}/{PREFIX}"
        self.at["webdav"] = "rclone:webdav:photos/calpe"
        self.at["new webdav"] = "rclone:webdav:photos/new"
        for number in range(4 - with_radosgw):
            (folder / f"disk{number}").mkdir()
            self.at[f"disk {number}"] = str(folder / f"disk{number}")
        names = [*s3, "webdav", "disk 0", "disk 1", *["disk 2"] * (not with_radosgw)]
        self.six = [self.at[name] for name in names]
        self.new = [self.at["new webdav"], self.at[list(self.at)[-1]]]

    def _configure(self, folder, s3):
        password = subprocess.run(["rclone", "obscure", "pw"], capture_output=True, check=True)
        (folder / "rclone.conf").write_text(
            "[webdav]\ntype = webdav\nvendor = other\nuser = key\n"
            f"url = {self.servers['webdav'].url}\npass = {password.stdout.decode()}\n"
            + "".join(f"[{name}]\ntype = s3\nprovider = Other\nendpoint = {server.url}\n"
                      f"access_key_id = {server.access_key}\n"
                      f"secret_access_key = {server.secret_key}\n" for name, server in s3.items()))
        (folder / "aws-config").write_text("".join(
            f"[profile {name}]\nendpoint_url = {server.url}\n" for name, server in s3.items()))
        (folder / "aws-credentials").write_text("".join(
            f"[{name}]\naws_access_key_id = {server.access_key}\n"
            f"aws_secret_access_key = {server.secret_key}\n" for name, server in s3.items()))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.environment = {**kept, "RCLONE_CONFIG": str(folder / "rclone.conf"),
                            "AWS_CONFIG_FILE": str(folder / "aws-config"),
                            "AWS_SHARED_CREDENTIALS_FILE": str(folder / "aws-credentials")}

    def rclone(self, *words):
        done = subprocess.run(["rclone", *words], env=self.environment, capture_output=True,
                              text=True, check=False, timeout=SECONDS_MAX)
        expect(done.returncode == 0, f"rclone {' '.join(words)}: {done.stderr}")
        return done.stdout

    def stored(self):
        """Bytes in all places, as rclone or the file system lists them."""
        served = sum(json.loads(self.rclone("size", "--json", f"{name}:{clouds.BUCKET}"))["bytes"]
                     for name in self.servers)
        return served + sum(path.stat().st_size for disk in self.folder.glob("disk*")
                            for path in disk.rglob("*") if path.is_file())

    def stop(self, names):
        for name in names:
            self.servers.pop(name).stop()


class Test:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.memory_max = 0
        self.source, self.back = folder / "source", folder / "back"
        self.places = Places(folder, is_nightly())

    def remote(self, code, verb, *arguments):
        """Runs a command; returns its JSON or error text, and prints its time and memory."""
        words = [self.calpe, "remote", verb, *map(str, arguments)]
        started = time.monotonic()
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                  env=self.places.environment) as child:
                timer = threading.Timer(SECONDS_MAX, child.kill)
                timer.start()
                _, status, used = os.wait4(child.pid, 0)
                timer.cancel()
                child.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for file in (output, errors):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        memory = used.ru_maxrss * 1024  # of calpe and of each rclone that it ran
        self.memory_max = max(self.memory_max, memory)
        print(f"  {verb:8} {time.monotonic() - started:6.1f} s, "
              f"{used.ru_utime + used.ru_stime:5.1f} s of CPU, {memory >> 20:4} MiB", flush=True)
        expect(child.returncode == code, f"{' '.join(words)}: exit {child.returncode}; expected "
               f"{code}: {texts[0][-1000:]}{texts[1][-1000:]}")
        return json.loads(texts[0]) if code == GOOD and "--json" in words else "".join(texts)

    def restore(self, places, expected, *options):
        shutil.rmtree(self.back, ignore_errors=True)
        self.remote(GOOD, "restore", *places, "-o", self.back, *options)
        expect(is_equal(expected, self.back), f"restored other bytes from {places}")

    def make_source(self):
        each = DATA_BYTES // FILES
        for number in range(FILES):
            path = self.source / f"{2020 + number % 5}" / f"{number:03}.raw"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.chance.randbytes(each))
        (self.source / "notes.txt").write_bytes(b"from the sea\n")

    def change(self):
        """One file, 1 % of the data, has new bytes, and another is renamed."""
        path = self.source / "2022" / "042.raw"
        path.write_bytes(self.chance.randbytes(path.stat().st_size))
        (self.source / "2020" / "000.raw").rename(self.source / "2021" / "renamed.raw")

    def check_refusals(self):
        """What real services answer to wrong keys and buckets names the place and the cause."""
        for name, server in self.places.servers.items():
            if name == "webdav":
                continue
            place = f"s3://{name}@no-such-bucket/x"
            said = self.remote(IO, "verify", place, "--attempts", 1)
            expect(place in said and "NoSuchBucket" in said, said)
            environment = dict(self.places.environment)
            self.places.environment |= {
                "AWS_ACCESS_KEY_ID": server.access_key, "AWS_SECRET_ACCESS_KEY": "wrong",
                "AWS_ENDPOINT_URL": server.url}
            said = self.remote(IO, "verify", "s3://photos/x", "--attempts", 1)
            self.places.environment = environment
            expect("s3://photos/x" in said and "SignatureDoesNotMatch" in said, said)
        return "wrong keys and buckets are refused"

    def check_life(self):
        places, six = self.places, self.places.six
        self.make_source()
        # Many objects, so that lists have several pages.
        segment = [] if is_nightly() else ["--segment", "64K"]
        made = self.remote(GOOD, "protect", self.source, *segment, "--json",
                           *[word for place in six for word in ("-o", place)])
        total, stored = DATA_BYTES, places.stored()
        objects = made["objects_written"]
        expect(objects > 6 * 2 * clouds.PAGE, f"{objects} objects fit in two pages of a list")
        # The report leaves out the objects of the generation.
        expect(0 <= stored - made["bytes_written"] <= total // 100,
               f"{stored} bytes stored, {made['bytes_written']} reported")
        self.remote(GOOD, "verify", *six)
        before = self.folder / "before"
        shutil.copytree(self.source, before, symlinks=True)
        self.change()
        updated = self.remote(GOOD, "update", self.source, *six, "--json")
        uploaded = max(places.stored() - stored, updated["bytes_written"])
        expect(uploaded <= total * UPDATE_PERCENT_MAX // 100,
               f"{uploaded} bytes uploaded for 1 % of {total}")
        generations = self.remote(GOOD, "info", *six, "--json")["sets"][0]["generations"]
        undo = min(one["generation"] for one in generations)
        lost = ["swift", "radosgw" if is_nightly() else "s3"]
        places.stop(lost)
        rest = [place for place in six if place not in [places.at[name] for name in lost]]
        self.restore(rest, self.source)
        self.restore(six, self.source, "--attempts", 1)  # notes the two that do not answer
        self.remote(DAMAGED, "verify", *rest, "--quick")
        repaired = self.remote(GOOD, "repair", *rest, *places.new, "--json")
        self.remote(GOOD, "verify", *rest, *places.new)
        self.restore([*rest[:2], *places.new], self.source)
        self.restore([*rest[2:], *places.new], before, "--generation", undo)
        self.remote(GOOD, "forget", *rest, *places.new, "--keep", 1)
        self.remote(GOOD, "verify", *rest, *places.new, "--quick")
        rebuilt = repaired.get("bytes_written", 0)
        return (f"{total / MIB:.0f} MiB in {objects} objects on {len(six)} places, "
                f"{made['bytes_written'] / MIB:.1f} MiB uploaded; update of 1 %: "
                f"{uploaded / MIB:.1f} MiB, {100 * uploaded / total:.2f} % of the data; "
                f"restored equal without {' and '.join(lost)}; repaired onto 2 new places"
                + (f", {rebuilt / MIB:.1f} MiB" if rebuilt else ""))

    def run(self):
        try:
            said = [self.check_refusals(), self.check_life()]
        finally:
            self.places.stop(list(self.places.servers))
        expect(self.memory_max < MEMORY_MAX, f"a command took {self.memory_max} bytes of memory")
        return "; ".join([*said, f"{self.memory_max >> 20} MiB of memory at most"])


def namespace(*words):
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
            "--propagation", "private", *words]


def reason_to_skip():
    if os.geteuid() != 0:
        return "a mount namespace needs root"
    if subprocess.run(namespace("true"), capture_output=True, check=False).returncode != 0:
        return "namespaces are not available"
    return clouds.missing(is_nightly())


def inside(calpe):
    seed = int(os.environ.get("CALPE_TEST_SEED") or time.time_ns() % 10**9)
    print(f"real_servers: CALPE_TEST_SEED={seed}", flush=True)
    # On a disk: 1 GiB takes 5 GiB with all places and copies.
    with tempfile.TemporaryDirectory(prefix="calpe-real-") as folder:
        try:
            test = Test(calpe, pathlib.Path(folder), random.Random(seed))
            print(f"real_servers: {test.run()}")
        except Failure as failure:
            print(f"real_servers: {failure}")
            return 1
        finally:
            subprocess.run(["umount", "/etc/swift"], stderr=subprocess.DEVNULL, check=False)
    return 0


def main():
    if sys.argv[1] == INSIDE:
        return inside(sys.argv[2])
    if reason := reason_to_skip():
        print(f"skipped: {reason}")
        return SKIPPED
    return subprocess.run(namespace(sys.executable, "-B", __file__, INSIDE, *sys.argv[1:]),
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
