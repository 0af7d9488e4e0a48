#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events, the hook and the metrics of a server.

Usage: alerts_test.py CALPE PLUGIN
The hook that sends mail is the one of docs/array.md, with a program `mail` that writes a file.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, say

DOCS = pathlib.Path(__file__).parents[3] / "docs/array.md"


def script(path, body):
    path.write_text(body)
    path.chmod(0o755)
    return path


def metrics(trial, *where):
    """Name and labels without the array: value. Checks the format of each line."""
    text = trial.array("metrics", *(where or ("--control", trial.control)))
    values, typed = {}, set()
    for line in text.splitlines():
        if line.startswith("# "):
            _, kind, name, rest = line.split(" ", 3)
            claim(kind in ("HELP", "TYPE") and rest, line)
            if kind == "TYPE":
                claim(name not in typed, f"twice: {name}")
                claim(rest in ("gauge", "counter"), line)
                claim(rest != "counter" or name.endswith("_total"), line)
                typed.add(name)
            continue
        match = re.fullmatch(r'(calpe_array_\w+)\{array="[0-9a-f-]{36}"(?:,(.*))?\} (\d+)', line)
        claim(match and match[1] in typed, line)
        key = match[1].removeprefix("calpe_array_") + (f"{{{match[2]}}}" if match[2] else "")
        claim(key not in values, f"twice: {key}")
        values[key] = int(match[3])
    return values


def check_refused(trial):
    for path, message in ((trial.folder / "nowhere", "No such file"),
                          (trial.members[0], "Permission denied")):
        done = subprocess.run(trial.nbdkit(f"hook={path}"), capture_output=True, text=True,
                              timeout=lab.PATIENCE_SECONDS)
        claim(done.returncode != 0 and f"hook: cannot run {path}: {message}" in done.stderr,
              done.stderr)


def check_events(trial):
    """fail, spare, rebuild and scrub run the hook and change the metrics."""
    out = trial.folder / "events"
    hook = script(trial.folder / "hook", "#!/bin/sh\n"
                  f'echo "$1|$2|$CALPE_LEVEL|${{CALPE_MEMBER-none}}" >> {out}\n')
    trial.start(f"hook={hook}", "take-spares=no")
    client = trial.client()
    client.pwrite(random.Random(3).randbytes(client.get_size()), 0)
    client.flush()
    client.shutdown()
    found = metrics(trial)
    claim(found['state{state="healthy"}'] == 1 and found['state{state="failed"}'] == 0, found)
    claim(found["members_may_fail"] == 2 and found["spares"] == 1, found)
    claim(found['info{data="4",parity="2"}'] == 1 and found["commits_total"] > 0, found)
    claim(found["scrub_last_end_timestamp_seconds"] == 0, found)
    claim(found["log_size_bytes"] == 128 * KIB, found)
    path = f'member="1",path="{trial.members[1]}"'
    claim(found[f'member_state{{{path},state="live"}}'] == 1, found)

    trial.array("fail", "--member", 1, "--control", trial.control)
    events = lambda: out.read_text() if out.exists() else ""
    lab.wait_until(lambda: "member-out|member 1 is out: it was taken out on request|warning|1\n" in
                   events(), "the hook runs")
    found = metrics(trial)
    claim(found['state{state="degraded"}'] == 1 and found["members_may_fail"] == 1, found)
    claim(found[f'member_state{{{path},state="out"}}'] == 1, found)

    trial.array("replace", "--member", 1, "--with", trial.spare_files[0], "--control",
                trial.control)
    trial.array("rebuild", "--control", trial.control)
    lab.wait_until(lambda: "rebuild-complete|rebuild complete|info|none\n" in events(), "rebuild")
    # Wrong blocks, found by a scrub.
    with open(trial.members[0], "r+b") as file:
        size = os.stat(trial.members[0]).st_size
        file.seek(size - 320 * KIB)
        file.write(random.Random(4).randbytes(256 * KIB))
    before = int(time.time())
    trial.array("scrub", "--control", trial.control)
    lab.wait_until(lambda: "scrub-complete|scrub complete: " in events(), "scrub")
    found = metrics(trial)
    claim(found['state{state="healthy"}'] == 1, found)
    claim(found["scrubs_total"] == 1 and found["scrub_running"] == 0, found)
    claim(before <= found["scrub_last_end_timestamp_seconds"] <= time.time() + 1, found)
    wrong = found["scrub_wrong_blocks"]
    claim(found["scrub_done_bytes"] == found["scrub_size_bytes"] == found["size_bytes"], found)
    level = "warning" if wrong else "info"
    claim(f"scrub-complete|scrub complete: {wrong} wrong blocks found, "
          f"{found['scrub_repaired_blocks']} repaired|{level}|none\n" in events(), events())
    claim(found['member_errors_total{member="0",kind="corrupt"}'] > 0, found)

    # To a file, as a whole.
    file = trial.folder / "array.prom"
    trial.array("metrics", "--control", trial.control, "--output", file)
    claim(file.read_text().startswith("# HELP calpe_array_info "), file.read_text())
    said = trial.array("metrics", "--control", trial.control, "--output", trial.folder / "no/file",
                       expected=4)
    claim("no/file" in said, said)
    trial.stop()
    found = metrics(trial, *trial.members, trial.spare_files[0])
    claim(found['state{state="healthy"}'] == 1 and "scrub_running" not in found, found)
    say(f"{len(events().splitlines())} events; {len(found)} metrics without a server")
    return wrong


def check_slow(trial):
    """A hook that never ends delays neither the array nor status."""
    hook = script(trial.folder / "slow", "#!/bin/sh\nexec sleep 600\n")
    trial.start(f"hook={hook}",
                members=[trial.members[0], *trial.members[2:5], trial.spare_files[0]])
    trial.array("fail", "--member", 0, "--control", trial.control)
    begun = time.monotonic()
    client = trial.client()
    for i in range(20):
        client.pwrite(bytes(4096), i * 4096)
        client.flush()
        trial.status()
    client.shutdown()
    claim(time.monotonic() - begun < 9, "the hook delays the array")
    trial.stop()
    log = (trial.folder / "log").read_text()
    claim(f"hook: {hook} took too long for member-back and was killed" in log, log)
    say("a slow hook is killed when the server stops")


def check_mail(trial):
    """The example of the documentation."""
    example = re.search(r"```sh\n(#!/bin/sh\ntest \"\$CALPE_LEVEL\".*?)```", DOCS.read_text(), re.S)
    claim(example, "no example")
    hook = script(trial.folder / "mail-hook", example[1])
    programs = trial.folder / "bin"
    programs.mkdir()
    script(programs / "mail", f'#!/bin/sh\n{{ echo "$*"; cat; }} >> {trial.folder}/sent\n')
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    trial.start(f"hook={hook}", members=trial.members[2:] + trial.spare_files)
    sent = trial.folder / "sent"
    uuid = trial.status()["uuid"]
    lab.wait_until(lambda: sent.exists() and f"Array {uuid} on " in sent.read_text(), "mail")
    text = sent.read_text()
    claim(text.startswith("-s calpe: member-out root\nmember "), text)
    trial.stop()
    say("the hook of the documentation sends mail")


def main():
    lab.need("nbdkit")
    with lab.Lab(spares=1, member=640 * KIB,
                 more=("--chunk", 8 * KIB, "--log", 128 * KIB)) as trial:
        check_refused(trial)
        claim(check_events(trial) > 0, "the scrub found nothing")
        check_mail(trial)
        check_slow(trial)
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
