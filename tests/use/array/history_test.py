#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters and scrubs over restarts and kills, and scrubs by schedule.

Usage: history_test.py CALPE PLUGIN
"""
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, say


def metrics(trial, *where):
    values = {}
    for line in trial.array("metrics", *(where or ("--control", trial.control))).splitlines():
        if line.startswith("#"):
            continue
        name, value = line.rsplit(" ", 1)
        name = name.removeprefix("calpe_array_").split(",", 1)
        values[name[0].split("{")[0] + ("," + name[1].rstrip("}") if len(name) > 1 else "")] = \
            int(value)
    return values


def spoil(trial, role):
    """Wrong bytes in the slots of a member."""
    path = trial.members[role]
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size - 320 * KIB)
        file.write(random.Random(role).randbytes(128 * KIB))


def check_counters(trial):
    """Errors and the last scrub are there after a restart, a kill, and without a server."""
    trial.start()
    client = trial.client()
    client.pwrite(random.Random(1).randbytes(client.get_size()), 0)
    client.flush()
    client.shutdown()
    spoil(trial, 1)
    begun = int(time.time())
    trial.array("scrub", "--control", trial.control)
    found = metrics(trial)
    wrong = found['member_errors_total,member="1",kind="corrupt"']
    claim(wrong > 0 and found["scrubs_total"] == 1, found)
    claim(found["scrub_last_wrong_blocks"] == wrong, found)
    claim(found["scrub_age_seconds"] <= time.time() - begun + 1, found)
    ended = found["scrub_last_end_timestamp_seconds"]

    def check(now):
        for key in ('member_errors_total,member="1",kind="corrupt"', "scrub_last_wrong_blocks",
                    "scrub_last_repaired_blocks", "scrub_last_end_timestamp_seconds",
                    'member_repaired_blocks_total,member="1"', "scrubs_total"):
            claim(now[key] == found[key], f"{key}: {found[key]} -> {now[key]}")

    trial.stop()
    check(metrics(trial, *trial.members))
    trial.start()
    check(metrics(trial))
    trial.kill()
    trial.start()
    check(metrics(trial))
    said = trial.array("explain", "--control", trial.control)
    claim("Member 1 returned" in said and "so far" in said, said)
    # A kill right after a scrub loses at most one renewal of the lease.
    spoil(trial, 0)
    trial.array("scrub", "--control", trial.control)
    time.sleep(1.5)
    trial.kill()
    now = metrics(trial, *trial.members)
    claim(now["scrubs_total"] == 2 and now["scrub_last_end_timestamp_seconds"] >= ended, now)
    claim(now['member_errors_total,member="0",kind="corrupt"'] > 0, now)
    say(f"{wrong} errors and two scrubs are known after restarts and kills")


def check_resumed(trial):
    """A scrub that a kill interrupted goes on where it was, and is one scrub."""
    trial.start("scrub-rate=64K")
    trial.array("scrub", "--detach", "--control", trial.control)
    scrub = lambda: trial.status()["scrub"]
    lab.wait_until(lambda: scrub()["done"] > 100 * KIB, "the scrub begins")
    time.sleep(1.2)  # a renewal of the lease
    done = scrub()["done"]
    trial.kill()
    trial.start("scrub-rate=64K")
    claim(scrub()["running"] and scrub()["done"] >= done - 160 * KIB, scrub())
    trial.array("rate", "--scrub", 0, "--control", trial.control)
    lab.wait_until(lambda: not scrub()["running"], "the scrub ends")
    claim(metrics(trial)["scrubs_total"] == 3, scrub())
    # Stopped is not interrupted.
    trial.array("rate", "--scrub", 1000, "--control", trial.control)
    trial.array("scrub", "--detach", "--control", trial.control)
    trial.array("scrub", "--stop", "--control", trial.control)
    trial.stop()
    trial.start()
    claim(not scrub()["running"] and scrub()["ended"] == 3, scrub())
    trial.stop()
    say("a killed scrub is resumed, a stopped one is not")


def check_schedule(trial):
    """scrub-every begins a scrub when the last one is older, and only then."""
    for wrong in ("", "30", "-1d", "1w", "3 d", "99999999999d"):
        done = subprocess.run(trial.nbdkit(f"scrub-every={wrong}"), capture_output=True, text=True,
                              timeout=lab.PATIENCE_SECONDS)
        claim(done.returncode != 0 and "expected a time such as 30d" in done.stderr, done.stderr)
    trial.start("scrub-every=30d")
    time.sleep(2.5)
    claim(trial.status()["scrub"]["ended"] == 3, "a scrub that was not due")
    claim(metrics(trial)["scrub_interval_seconds"] == 30 * 86400, "the interval")
    trial.stop()
    # Due at once. Not while a member is out.
    trial.start("scrub-every=1s", "take-spares=no")
    lab.wait_until(lambda: trial.status()["scrub"]["ended"] >= 5, "two scrubs by schedule")
    claim("scrub begun by its schedule" in (trial.folder / "log").read_text(), "no event")
    trial.array("fail", "--member", 2, "--control", trial.control)
    lab.wait_until(lambda: not trial.status()["scrub"]["running"], "the scrub ends")
    ended = trial.status()["scrub"]["ended"]
    time.sleep(2.5)
    claim(trial.status()["scrub"]["ended"] == ended, "a scrub while a member is out")
    trial.array("retry", "--member", 2, "--control", trial.control)
    lab.wait_until(lambda: trial.status()["scrub"]["ended"] > ended, "a scrub afterwards")
    trial.stop()
    say("scrubs by schedule")


def main():
    lab.need("nbdkit")
    with lab.Lab(member=1024 * KIB, more=("--chunk", 8 * KIB, "--log", 128 * KIB)) as trial:
        check_counters(trial)
        check_resumed(trial)
        check_schedule(trial)
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
