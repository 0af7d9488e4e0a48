#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Regular checks of a set: parts, a rate, the record, metrics and disks: scrub.py CALPE FAULTS"""
import configparser
import json
import os
import pathlib
import re
import shlex
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import DAMAGED, GOOD, IO, LOST  # noqa: E402, pylint: disable=wrong-import-position
from command import USAGE, expect  # noqa: E402, pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
BLOCK = 4096


class Scrub:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder = calpe, folder
        self.source = folder / "photos"
        self.source.mkdir()
        (self.source / "a").write_bytes(chance.randbytes(400_000))
        self.disks = [folder / name for name in ("a", "b", "c")]
        outputs = [word for disk in self.disks for word in ("-o", disk)]
        calpe.must(GOOD, "protect", self.source, "--data", 4, "--parity", 2, "--block-bytes", BLOCK,
                   *outputs)
        self.stripes = json.loads(calpe.must(GOOD, "verify", *self.disks,
                                             "--json").text)["set"]["stripes"]

    def damage(self, stripe, paths=()):
        """Damages a block of each shard, or undoes that."""
        for path in paths or [next(self.disks[0].glob("*.calpe"))]:
            with open(path, "r+b") as file:
                file.seek(4096 + stripe * BLOCK)
                old = file.read(1)
                file.seek(4096 + stripe * BLOCK)
                file.write(bytes([old[0] ^ 1]))

    def parts(self):
        """Every stripe is in exactly one part."""
        for stripe in (0, 7, self.stripes - 1):
            self.damage(stripe)
            found = [part for part in range(1, 8)
                     if self.calpe.run("verify", *self.disks, "--part",
                                       f"{part}/7").returncode == DAMAGED]
            expect(len(found) == 1, f"stripe {stripe} is in the parts {found}")
            self.damage(stripe)
        done = self.calpe.must(GOOD, "verify", *self.disks, "--part", "2/7")
        expect(re.search(r"Part 2 of 7: [34] of \d+ stripes were read\.", done.text), done.text)
        self.calpe.must(GOOD, "verify", *self.disks, "--part", "100/100", "--uncached")
        for wrong in ("0/3", "4/3", "3", "x/3", "1/0", "next/3", "1/10001"):
            self.calpe.must(USAGE, "verify", *self.disks, "--part", wrong)

    def record(self):
        """next/N goes round, and the record tells since when everything was verified."""
        record = self.folder / "record"
        order = []
        for _ in range(4):
            before = int(time.time())
            report = json.loads(self.calpe.must(GOOD, "verify", *self.disks, "--part", "next/3",
                                                "--record", record, "--json").text)
            order.append(report["part"])
            since = report["completely_verified_since"]
            expect((since == 0) == (len(order) < 3), f"{order}: {since}")
            expect(since <= before + 1, f"{since} is after {before}")
        expect(order[:3] == [1, 2, 3], f"{order}")
        done = self.calpe.must(GOOD, "verify", *self.disks, "--record", record)
        expect(re.search(r"Every part was verified since: 20\d\d-", done.text), done.text)
        expect(len(json.loads(record.read_text())["sets"]) == 1, record.read_text())
        record.write_text("[]")
        self.calpe.must(USAGE, "verify", *self.disks, "--record", record)
        expect(record.read_text() == "[]", "a file that is not a record was replaced")

    def recorded_damage(self):
        """Damage of one part is reported until that part is read good again."""
        record, path = self.folder / "damage.json", self.folder / "damage.prom"
        shards = sorted(shard for disk in self.disks for shard in disk.glob("*.calpe"))

        def run(part, code):
            done = self.calpe.must(code, "verify", *self.disks, "--part", part, "--record", record,
                                   "--metrics", path)
            report = json.loads(self.calpe.must(code, "verify", *self.disks, "--part", part,
                                                "--record", record, "--json").text)
            metrics = dict(re.findall(r"^(calpe_\w+)\{.*\} (\S+)$", path.read_text(), re.M))
            return done.text, report, metrics

        self.damage(2, shards[:3])
        text, report, metrics = run("1/5", LOST)
        expect(report["lost_stripes"] == [2] and metrics["calpe_verify_state"] == "2",
               f"{report}")
        for part in range(2, 6):
            text, report, metrics = run(f"{part}/5", LOST)
            expect("3 of 6 shards are good." in text and "stripe 2." in text and
                   "This includes 1 stripe of other parts" in text and
                   "You can still lose" not in text, text)
            expect(report["lost_stripes"] == [2] and report["state"] == "lost" and
                   report["recorded_bad_stripes"] == 1, f"{report}")
            expect(metrics["calpe_verify_state"] == "2" and metrics["calpe_lost_stripes"] == "1" and
                   metrics["calpe_shards_good"] == "3" and metrics["calpe_bad_blocks"] == "3",
                   f"{metrics}")
        self.damage(2, shards[:2])
        run("1/5", DAMAGED)
        # With another number of parts, and another shard that is missing.
        text, report, metrics = run("7/7", DAMAGED)
        expect("You can still lose any 1 of 6 shards" in text and
               "This is based on the part that was read and on the record of the others." in text,
               text)
        expect(report["losses_are_based_on"] == "record" and report["good_shards"] == 5 and
               report["bad_stripes"] == 1, f"{report}")
        away = self.folder / "away"
        away.mkdir()
        for shard in shards[3:5]:
            shard.rename(away / shard.name)
        text, report, metrics = run("7/7", LOST)
        expect(report["lost_stripes"] == [2], f"{report}")
        for shard in shards[3:5]:
            (away / shard.name).rename(shard)
        self.damage(2, shards[2:3])
        text, report, metrics = run("1/5", GOOD)
        text, report, metrics = run("2/5", GOOD)
        expect("other parts" not in text, text)
        # Without a record, the margin is only that of the part.
        done = self.calpe.must(GOOD, "verify", *self.disks, "--part", "2/5")
        expect("any 2 of 6 shards" in done.text and
               "assumes that no block of the other parts is damaged." in done.text, done.text)
        # A record of an older version has no damage, and an older version drops it.
        whole = json.loads(record.read_text())
        for entry in whole["sets"].values():
            expect(set(entry) == {"name", "complete", "parts", "damage"}, f"{entry}")
            del entry["damage"]
        record.write_text(json.dumps(whole))
        run("3/5", GOOD)

    def rate(self):
        """600 kB at 600 kB/s take about a second."""
        begin = time.monotonic()
        self.calpe.must(GOOD, "verify", *self.disks, "--bwlimit", "600K", "--uncached")
        seconds = time.monotonic() - begin
        expect(0.7 < seconds < 10, f"{seconds} s")
        self.calpe.must(USAGE, "verify", *self.disks, "--bwlimit", "0")

    def metrics(self):
        path = self.folder / "calpe.prom"
        self.calpe.must(GOOD, "verify", *self.disks, "--metrics", path)
        values = dict(re.findall(r'^(calpe_\w+)\{set="[0-9a-f-]{36}",name="photos"\} (\S+)$',
                                 path.read_text(), re.M))
        expect(values["calpe_verify_state"] == "0" and values["calpe_shards_good"] == "6" and
               values["calpe_shards_may_be_lost"] == "2", f"{values}")
        expect(abs(int(values["calpe_verify_time_seconds"]) - time.time()) < 60, f"{values}")
        self.damage(3)
        self.calpe.must(DAMAGED, "verify", *self.disks, "--metrics", path)
        self.damage(3)
        expect("calpe_bad_blocks{" in path.read_text() and
               re.search(r"^calpe_verify_state\{.*\} 1$", path.read_text(), re.M),
               path.read_text())
        self.calpe.must(IO, "verify", *self.disks, "--metrics", self.folder / "none/calpe.prom")

    def failing_disk(self, faults):
        """A read error is told from damage, and names the disk."""
        environment = dict(os.environ, LD_PRELOAD=faults, CALPE_FAULT_ROOT=str(self.disks[1]),
                           CALPE_FAULT_KIND="EIO")
        named = 0
        for at in range(1, 60):
            environment["CALPE_FAULT_AT"] = str(at)
            done = self.calpe.run("verify", *self.disks, environment=environment)
            if "reports read errors and may be failing" in done.errors:
                named += 1
                expect(f"the disk of {self.disks[1]} " in done.errors, done.errors)
                expect("Input/output error" in done.text, done.text)
                expect(done.returncode == DAMAGED or done.returncode == GOOD, done.errors)
        expect(named > 0, "no read error was reported")

    def unreadable_header(self, faults):
        """A shard that fails at the first read is not just missing."""
        shard = sorted(self.disks[1].glob("*.calpe"))[0]
        environment = dict(os.environ, LD_PRELOAD=faults, CALPE_FAULT_ROOT=str(shard),
                           CALPE_FAULT_KIND="EIO", CALPE_FAULT_AT="-1")
        path = self.folder / "failing.prom"
        done = self.calpe.run("verify", *self.disks, "--metrics", path, environment=environment)
        expect(done.returncode == DAMAGED, done.errors)
        expect(": unreadable, counts as missing: cannot " in done.text and
               f"{shard}: Input/output error" in done.text, done.text)
        expect(f"the disk of {self.disks[1]} reports read errors and may be failing" in
               done.errors, done.errors)
        expect(re.search(r"^calpe_shards_with_read_errors\{.*\} 1$", path.read_text(), re.M),
               path.read_text())
        report = json.loads(self.calpe.run("verify", *self.disks, "--json",
                                           environment=environment).text)
        errors = [each["read_error"] for each in report["shards"] if each["read_error"]]
        expect(len(errors) == 1 and "Input/output error" in errors[0], f"{report}")

    def other_states(self):
        """Copies, stale shards and unfinished commands are mentioned."""
        path = sorted(self.disks[0].iterdir())[0]
        copy = self.disks[1] / "copy.calpe"
        copy.write_bytes(path.read_bytes())
        done = self.calpe.must(GOOD, "verify", *self.disks)
        expect("note: shard 0 was found 2 times; one is enough: " in done.errors, done.errors)
        copy.unlink()
        stale = self.folder / "stale"
        stale.mkdir()
        (stale / path.name).write_bytes(path.read_bytes())
        (self.source / "b").write_bytes(b"new")
        self.calpe.must(GOOD, "update", self.source, *self.disks)
        done = self.calpe.must(GOOD, "verify", *self.disks, stale)
        expect(f"note: 1 shard in {stale} from before an update: out of date and not used\n"
               in done.errors, done.errors)
        part = self.disks[2] / ".calpe-00000000-0000-4000-8000-000000000000-s000.part"
        part.write_bytes(b"x")
        for verb in ("verify", "info"):
            done = self.calpe.must(GOOD, verb, *self.disks)
            expect(f"note: {self.disks[2]} has 1 part of an unfinished protect; " in done.errors,
                   done.errors)
        part.unlink()
        self.damage(1)
        out = self.folder / "out"
        done = self.calpe.must(GOOD, "restore", *self.disks, "-o", out)
        expect("note: 1 damaged block had to be rebuilt; calpe verify lists the damage" in
               done.errors, done.errors)
        report = json.loads(self.calpe.must(GOOD, "restore", *self.disks, "-o", out, "--overwrite",
                                            "--json").text)
        expect(report["blocks_rebuilt"] == 1, f"{report}")
        self.damage(1)

    def service(self):
        """The command of the example service works."""
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        unit.read(ROOT / "examples/systemd/calpe-scrub.service")
        words = shlex.split(unit["Service"]["ExecStart"])
        places = {"/mnt/a": self.disks[0], "/mnt/b": self.disks[1], "/mnt/c": self.disks[2],
                  "/var/lib/calpe/verified.json": self.folder / "verified.json",
                  "/var/lib/prometheus/node-exporter/calpe.prom": self.folder / "scrub.prom"}
        expect(words[0] == "/usr/bin/calpe" and set(places) <= set(words), f"{words}")
        self.calpe.must(GOOD, *[places.get(word, word) for word in words[1:]])
        expect((self.folder / "scrub.prom").exists(), "no metrics")
        timer = (ROOT / "examples/systemd/calpe-scrub.timer").read_text()
        expect("OnCalendar=daily" in timer and "Persistent=true" in timer, timer)


def main():
    calpe = command.program_from_arguments()

    def work(folder, chance):
        scrub = Scrub(calpe, folder, chance)
        scrub.parts()
        scrub.record()
        scrub.recorded_damage()
        scrub.rate()
        scrub.metrics()
        scrub.failing_disk(sys.argv[2])
        scrub.unreadable_header(sys.argv[2])
        scrub.service()
        scrub.other_states()
        return f"{scrub.stripes} stripes"

    return command.run_with_seed("scrub", work, fixed_seed=33)


if __name__ == "__main__":
    sys.exit(main())
