#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `calpe bench` for a moment: JSON schema, table, exit codes. usage: bench_smoke.py CALPE

Speed is not judged here: a test machine is busy. Peers that are not installed are left out.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

CELL = {"data_shards": int, "parity_shards": int, "shard_bytes": int}
ROW = {**CELL, "operation": str, "profile": str, "path": str, "rounds": int, "lost_shards": int}
SPEED_ROW = {**ROW, "gb_per_s": float, "gb_per_s_median": float, "roof_gb_per_s": float,
             "fraction_of_roof": float, "memcpy_gb_per_s": float}
PLAN_ROW = {**ROW, "plan_us": float, "plan_us_best": float}
LIMITS = {**CELL, "working_set_bytes": int, "memcpy_gb_per_s": float, "read_gb_per_s": float,
          "write_gb_per_s": float}
MACHINE = {"cpu": str, "cpu_count": int, "caches": list, "path": str, "compiler": str,
           "calpe_version": str, "threads": int}


def bench(calpe, *arguments):
    return subprocess.run([calpe, "bench", *arguments], capture_output=True, text=True, timeout=300)


def expect(claim, text):
    if not claim:
        sys.exit(f"bench_smoke: {text}")


def check_fields(record, schema, where):
    for name, kind in schema.items():
        expect(name in record, f"{where} has no '{name}': {record}")
        value = record[name]
        # A round figure is printed without its fraction.
        good = isinstance(value, (int, float) if kind is float else kind)
        expect(good, f"{where}.{name} is {value!r}, expected {kind.__name__}")
        expect(kind is not float or value > 0, f"{where}.{name} is {value!r}, expected above 0")


def installed_peers():
    peers = []
    for name, soname in (("isal", "libisal.so.2"), ("jerasure", "libJerasure.so.2")):
        try:
            ctypes.CDLL(soname)
            peers.append(name)
        except OSError:
            print(f"bench_smoke: {soname} is not installed, peer {name} left out")
    return peers


def check_report(report, peers):
    check_fields(report["machine"], MACHINE, "machine")
    expect([peer["name"] for peer in report["peers"]] == peers, f"peers are {report['peers']}")
    for limits in report["limits"]:
        check_fields(limits, LIMITS, "limits")
    for row in report["rows"]:
        is_plan = row["operation"] == "plan"
        check_fields(row, PLAN_ROW if is_plan else SPEED_ROW, f"row {row['operation']}")
        for peer in peers:
            speed = ("plan_us_" if is_plan else "gb_per_s_") + peer
            names = (speed, f"ratio_{peer}", f"ratio_{peer}_median", f"ratio_{peer}_p10",
                     f"ratio_{peer}_p90")
            check_fields(row, {name: float for name in names} | {f"method_{peer}": str}, "row")
            if not is_plan:
                ratio = row["gb_per_s"] / row[f"gb_per_s_{peer}"]
                expect(abs(ratio / row[f"ratio_{peer}"] - 1) < 1e-3, f"ratio of {row}")


def check_small_run(calpe, peers):
    arguments = ["--shape", "4+2", "--shape", "10+4", "--bytes", "4K", "--bytes", "64KiB",
                 "--rounds", "3", "--json"]
    for operation in ("encode", "decode", "decode1", "plan"):
        arguments += ["--operation", operation]
    for peer in peers:
        arguments += ["--peer", peer]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        done = bench(calpe, *arguments, "-o", path)
        expect(done.returncode == 0, f"exit {done.returncode}, expected 0: {done.stderr}")
        expect(done.stderr == "", f"progress without a terminal: {done.stderr!r}")
        report = json.loads(done.stdout)
        with open(path, encoding="utf-8") as file:
            expect(json.load(file) == report, "-o and standard output differ")
    check_report(report, peers)
    cells = {(r["data_shards"], r["shard_bytes"], r["operation"]) for r in report["rows"]}
    wanted = {(k, b, o) for k in (4, 10) for b in (4096, 65536)
              for o in ("encode", "decode", "decode1")} | {(4, 0, "plan"), (10, 0, "plan")}
    expect(cells == wanted, f"cells are {sorted(cells)}")
    expect(len(report["limits"]) == 4, f"{len(report['limits'])} limits, expected 4")


def check_quick_grid(calpe):
    done = bench(calpe, "--quick", "--seconds", "1", "--json")
    expect(done.returncode == 0, f"--quick: exit {done.returncode}: {done.stderr}")
    rows = json.loads(done.stdout)["rows"]
    expect(len(rows) == 31, f"--quick has {len(rows)} rows, expected 5 x 3 x 2 and one plan")
    expect((rows[-1]["operation"], rows[-1]["data_shards"]) == ("plan", 223), "no plan row 223+32")


def check_table(calpe):
    done = bench(calpe, "--shape", "4+2", "--bytes", "4K", "--rounds", "3")
    expect(done.returncode == 0, f"table: exit {done.returncode}: {done.stderr}")
    expect("GB/s" in done.stdout and "4+2" in done.stdout, f"no table: {done.stdout}")
    quiet = bench(calpe, "--shape", "4+2", "--bytes", "4K", "--rounds", "3", "--quiet")
    expect(quiet.stdout + quiet.stderr == "", f"--quiet printed {quiet.stdout + quiet.stderr!r}")


def check_refusals(calpe):
    cases = [
        (["--peer", "isal=/nowhere/libisal.so.2"], ["/nowhere/libisal.so.2", "path"]),
        (["--peer", "isal=/lib/x86_64-linux-gnu/libm.so.6"], ["ec_encode_data"]),
        (["--peer", "islal"], ["islal", "isal", "jerasure"]),
        (["--shape", "10"], ["10+4"]),
        (["--bytes", "4X"], ["4X", "64K"]),
        (["--operation", "encrypt"], ["encrypt", "decode1"]),
        (["--profile", "no-such-code"], ["no-such-code"]),
        (["--backend", "cpu:none"], ["cpu:none"]),
        (["--profile", "vandermonde-isal", "--shape", "10+5"], ["10+5"]),
        (["-o", "/nowhere/run.json"], ["/nowhere/run.json"]),
    ]
    for arguments, words in cases:
        if "libm.so.6" in arguments[-1] and not os.path.exists(arguments[-1].partition("=")[2]):
            continue
        done = bench(calpe, *arguments, "--rounds", "1")
        expect(done.returncode == 2, f"{arguments}: exit {done.returncode}, expected 2")
        for word in words:
            expect(word in done.stderr, f"{arguments}: no '{word}' in {done.stderr!r}")


# A peer with ISA-L's functions that does nothing: its parity cannot be right.
WRONG_PEER = """
void gf_gen_cauchy1_matrix(void) {}
void gf_gen_rs_matrix(void) {}
int gf_invert_matrix(void) { return 0; }
void ec_init_tables(void) {}
void ec_encode_data(void) {}
"""


def check_wrong_bytes(calpe):
    compiler = shutil.which("cc")
    if compiler is None:
        print("bench_smoke: no cc, wrong bytes not tried")
        return
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "libisal.so.2")
        subprocess.run([compiler, "-shared", "-fPIC", "-xc", "-", "-o", library],
                       input=WRONG_PEER, text=True, check=True)
        done = bench(calpe, "--peer", f"isal={library}", "--shape", "4+2", "--bytes", "4K",
                     "--json")
        expect(done.returncode == 1, f"wrong bytes: exit {done.returncode}, expected 1")
        expect("wrong bytes" in done.stderr and "expected 0x" in done.stderr,
               f"wrong bytes: {done.stderr!r}")
        expect(done.stdout == "", f"wrong bytes, and figures: {done.stdout}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: bench_smoke.py CALPE")
    calpe = sys.argv[1]
    check_refusals(calpe)
    check_wrong_bytes(calpe)
    check_small_run(calpe, installed_peers())
    check_quick_grid(calpe)
    check_table(calpe)
    print("bench_smoke: good")


if __name__ == "__main__":
    main()
