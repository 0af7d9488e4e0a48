#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `calpe durability` with a reference written from the document and published numbers;
tests tables, plots, errors, exit codes and the man page.

Usage: durability_test.py REPOSITORY CALPE
"""
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import durability_reference as reference

root = pathlib.Path(sys.argv[1])
calpe = sys.argv[2]
sys.path.insert(0, str(root / "tests/golden"))
import reference_codes  # noqa: E402


def expect(claim, text):
    if not claim:
        sys.exit(f"durability_test: {text}")


def near(value, expected, tolerance=1e-9):
    return abs(value - expected) <= tolerance * abs(expected)


def run(*arguments, code=0):
    done = subprocess.run([calpe, "durability", *arguments], capture_output=True, text=True)
    expect(done.returncode == code,
           f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def answers(*arguments, code=0):
    return json.loads(run(*arguments, "--json", "--cycles", "2000", code=code).stdout)["rows"]


def answer(*arguments, code=0):
    return answers(*arguments, code=code)[0]


def code_of(k, m):
    return ["--data", str(k), "--parity", str(m)]


def check_table():
    """Five codes on devices of 20 TB, compared with exact fractions."""
    stated = {(8, 1): (1.6e-4, .139, .50), (8, 2): (1.2e-7, 2.1e-4, 1.0e-3),
              (14, 2): (5.6e-7, 9.7e-4, 4.8e-3), (17, 3): (9.7e-10, 2.5e-6, 1.3e-5),
              (10, 4): (7.5e-14, 2.6e-10, 1.3e-9)}
    rate = reference.rate_of_afr(0.015)
    for (k, m), figures in stated.items():
        row = answer(*code_of(k, m))
        hours = reference.rebuild_hours(16e12, k)
        expect(near(row["rebuild"]["hours"], hours), f"{row['rebuild']}; expected {hours} hours")
        dead = [0] * (m + 1)
        device = float(reference.losses_per_year(k + m, dead, rate, hours))
        expect(near(row["device_losses_per_year"], device), f"{k}+{m}: {row}; expected {device}")
        expect(near(row["log10_device_losses_per_year"], math.log10(device)), f"{row}")
        q = reference.unreadable(1 << 20, 1e-15, 0, 30)
        stripes = float(reference.lost_stripes_per_year(k + m, dead, rate, hours, 16e12 / 2 ** 20,
                                                        q, 30))
        expect(near(row["lost_stripes_per_year"], stripes), f"{k}+{m}: {row}; expected {stripes}")
        any_loss = -math.expm1(-5 * (device + stripes))
        expect(near(row["mission"]["any"], any_loss, 1e-3), f"{k}+{m}: {row['mission']}")
        for value, figure in zip((device, stripes, any_loss), figures):
            expect(near(value, figure, 0.05), f"{k}+{m}: {value}, published {figure}")
        nomdl = 5 * (device + stripes / (16e12 / 2 ** 20))
        expect(near(row["nomdl"], nomdl, 1e-9), f"{k}+{m}: {row['nomdl']}; expected {nomdl}")
        expect(near(row["lost_bytes"], nomdl * k * 16e12), f"{k}+{m}: {row['lost_bytes']}")


def check_published():
    row = answer(*code_of(10, 0), "--capacity", "1T", "--fill", "100%")
    expect(near(row["full_read_survives"], 0.92312, 1e-5), f"{row['full_read_survives']}")
    text = run(*code_of(10, 0), "--capacity", "1T", "--fill", "1").stdout
    expect("92.31 %" in text and "no loss" in text and "  rebuild time  " not in text, text)
    raid6 = [*code_of(14, 2), "--mttf-hours", "1.2e6", "--repair-hours", "24", "--serial-repair"]
    expect(near(answer(*raid6, "--mttdl")["mttdl_years"], 1.02e8, 5e-3), "RAID-6")
    text = run(*raid6, "--mttdl").stdout
    expect("1.019e+08 years" in text and "WARNING: a mean time" in text, text)
    expect("mttdl_years" not in answer(*raid6), "MTTDL without --mttdl")
    vault = [*code_of(17, 3), "--failures-per-year", "0.405%", "--repair-hours", "156"]
    window = answer(*vault, "--model", "window")
    expect(near(window["year"]["device"], 7.354e-12, 1e-4), f"{window['year']}")
    expect(near(window["year"]["device"], reference.window_loss(20, 3, 0.00405, 6.5)), f"{window}")
    expect(any("m + 1 = 4" in text for text in window["warnings"]), f"{window['warnings']}")
    chain = answer(*vault)["device_losses_per_year"]
    expect(near(chain, 2.93e-11, 2e-3), f"{chain}")
    expect("2.93e-11" in run(*vault, "--read-errors", "0").stdout, "2.93e-11 is not printed")
    serial = answer(*vault, "--serial-repair")["device_losses_per_year"]
    expect(near(serial, 1.758e-10, 1e-3), f"{serial}")
    figures = json.loads(run("--published", "--json").stdout)
    expect([f["confirmed"] for f in figures] == [True, False, True, True, False], f"{figures}")
    text = run("--published").stdout
    expect("Off by 1000" in text and "100 billion" in text and "1.019e+08" in text, text)


def check_sampling():
    arguments = [*code_of(10, 4), "--failures-per-year", "0.015", "--repair-hours", "24", "--json"]
    sampled = json.loads(run(*arguments, "--cycles", "2000000").stdout)["rows"][0]["sampled"]
    expect(near(sampled["losses_per_year"], 4.28e-16, 0.02), f"{sampled}")
    expect(sampled["low"] < sampled["chain"] < sampled["high"], f"{sampled}")
    expect("2000 cycles, seed 7" in run("--cycles", "2000", "--seed", "7").stdout, "no seed")
    again = [run(*arguments, "--seed", seed).stdout for seed in ("1", "1", "2")]
    expect(again[0] == again[1] != again[2], "the seed has no effect, or not the only one")
    missions = answer(*code_of(4, 1), "--failures-per-year", "0.3", "--repair-hours", "100",
                      "--missions", "20000", "--read-errors", "0")
    found = missions["missions"]
    expect(found["low"] < missions["mission"]["device"] < found["high"], f"{missions}")
    expect(found["device"] == round(found["probability"] * 20000) > 0, f"{found}")


def check_causes():
    row = answer(*code_of(6, 2), "--shocks-per-year", "0.02", "--shock-hit", "0.2",
                 "--batch-factor", "5", "--serial-repair", "--afr", "3%")
    shock = 0.02 * float(reference.shock_loss(8, [0, 0, 0], 0.2))
    expect(near(row["correlated_losses_per_year"], shock), f"{row}; expected {shock}")
    hours = row["rebuild"]["hours"]
    device = reference.losses_per_year(8, [0, 0, 0], reference.rate_of_afr(0.03), hours, True, 5)
    expect(near(row["device_losses_per_year"], float(device)), f"{row}; expected {float(device)}")
    latent = answer("--latent-errors", "3", "--scrub-days", "60")
    q = reference.unreadable(1 << 20, 1e-15, 3, 60)
    stripes = reference.lost_stripes_per_year(14, [0] * 5, reference.rate_of_afr(0.015),
                                              latent["rebuild"]["hours"], 16e12 / 2 ** 20, q, 60)
    expect(near(latent["lost_stripes_per_year"], float(stripes)), f"{latent}, {float(stripes)}")
    for options, key, arguments in (
            (["--network-rate", "500M"], "the network", {"network": 5e8}),
            (["--decode-rate", "500M"], "decoding", {"decode": 5e8}),
            (["--read-rate", "50M"], "reading the survivors", {"read": 5e7}),
            (["--pool", "500"], "the devices of the pool", {"pool": 500})):
        row = answer(*options)
        expect(row["rebuild"]["bottleneck"] == key, f"{options}: {row['rebuild']}")
        expect(near(row["rebuild"]["hours"], reference.rebuild_hours(16e12, 10, **arguments)),
               f"{options}: {row['rebuild']}")


def check_pool():
    """Few large stripes, so that a pool can survive more than m losses."""
    row = answer(*code_of(4, 1), "--pool", "20", "--capacity", "1T", "--fill", "1",
                 "--shard-bytes", "0.5T", "--failures-per-year", "0.5", "--detect-hours", "5",
                 "--replace-hours", "0", "--read-errors", "0")
    transfer = 1e12 * 5 / (19 * 0.3 * 200e6) / 3600
    expect(near(row["rebuild"]["transfer_hours"], transfer), f"{row['rebuild']}")
    losses = float(reference.pool_losses_per_year(5, 1, 20, 0.5 / 8766, 5, transfer, 8))
    expect(near(row["device_losses_per_year"], losses, 1e-9), f"{row}; expected {losses}")
    certain = float(reference.losses_per_year(20, [0, 0], 0.5 / 8766, 5 + transfer))
    expect(losses < 0.6 * certain, f"{losses} of {certain}: no second loss was survived")


def lrc_patterns(k, groups, parity):
    """Returns a predicate for recoverable sets of losses, by the rank of the remaining rows."""
    field = reference_codes.Field(8, 0x11D)
    spec = {"data_shards": k, "parity_shards": parity, "local_groups": groups}
    identity = [[int(i == j) for j in range(k)] for i in range(k)]
    rows = identity + reference_codes.lrc(field, spec)

    def is_alive(lost):
        left = [list(row) for i, row in enumerate(rows) if i not in lost]
        rank = 0
        for column in range(k):
            pivot = next((r for r in range(rank, len(left)) if left[r][column]), None)
            if pivot is None:
                return False
            left[rank], left[pivot] = left[pivot], left[rank]
            inverse = field.inverse(left[rank][column])
            for r in range(rank + 1, len(left)):
                factor = field.multiply(left[r][column], inverse)
                if factor:
                    left[r] = [a ^ field.multiply(factor, b) for a, b in zip(left[r], left[rank])]
            rank += 1
        return True

    return is_alive


def check_lrc():
    """The chain over numbers of losses is exact, except for the patterns that a rebuild leaves."""
    is_alive = lrc_patterns(4, 2, 4)
    dead = [sum(not is_alive(set(lost)) for lost in itertools.combinations(range(8), f)) /
            math.comb(8, f) for f in range(5)]
    lrc = ["--profile", "lrc", *code_of(4, 4), "--groups", "2", "--repair-hours", "87.66"]
    for failures, tolerance in ((1, 0.03), (0.1, 0.003)):
        row = answer(*lrc, "--failures-per-year", str(failures))
        survived = [1 - pattern["survived"] for pattern in row["code"]["patterns"]]
        expect(all(near(a + 1, b + 1) for a, b in zip(survived, dead[1:])), f"{survived}, {dead}")
        rate = failures / 8766
        lumped = float(reference.losses_per_year(8, dead, rate, 87.66))
        expect(near(row["device_losses_per_year"], lumped, 1e-6), f"{row}; expected {lumped}")
        by_sets = reference.losses_by_sets(8, is_alive, rate, 87.66)
        expect(near(row["device_losses_per_year"], by_sets, tolerance), f"{row}, {by_sets}")
    azure = answer("--profile", "lrc", *code_of(12, 4), "--groups", "2")
    expect(near(azure["code"]["reads_for_one_loss"], (14 * 6 + 2 * 12) / 16), f"{azure['code']}")
    expect(azure["code"]["survives_any"] == 3, f"{azure['code']}")
    other = azure["repair_traffic_of_other"]
    expect(other["code"] == "12+4", f"{other}")
    ratio = azure["repair_traffic"]["read_bytes_per_day"] / other["read_bytes_per_day"]
    expect(near(ratio, 6.75 / 12), f"{ratio}")


def check_extremes():
    never = answer("--afr", "0", "--read-errors", "0")
    expect(never["year"]["any"] == 0 and never["nines"] is None, f"{never}")
    expect(never["log10_device_losses_per_year"] is None, f"{never}")
    often = answer("--afr", "99.9999999%", "--read-errors", "0")
    expect(0.01 < often["year"]["device"] <= 1 and often["nomdl"] <= 1, f"{often}")
    expect(any("further failures" in text for text in often["warnings"]), f"{often['warnings']}")
    wide = answer(*code_of(100, 100), "--read-errors", "0")
    expect(wide["device_losses_per_year"] >= 0, f"{wide}")
    expect(-600 < wide["log10_device_losses_per_year"] < -150, f"{wide}")
    plain = answer(*code_of(10, 0), "--failures-per-year", "0.1", "--read-errors", "0")
    expect(near(plain["device_losses_per_year"], 1), f"{plain}")
    clustered = answer(*code_of(8, 1))
    expect(any("several stripes" in text for text in clustered["warnings"]), f"{clustered}")
    expect(clustered["mission"]["any_clustered"] < 0.36, f"{clustered['mission']}")


def check_believable():
    """The table never shows more than 11 nines; JSON does."""
    arguments = ["--read-errors", "0", *code_of(10, 4)]
    row = answer(*arguments)
    expect(row["year"]["any"] < 1e-11 and row["nines"] > 11, f"{row}")
    text = run(*arguments).stdout
    expect("11 nines or more, device model only" in text, text)
    expect(not re.search(r"\de-1[2-9]", text.split("Simulated")[0].split("expected loss")[0]), text)
    text = run("--compare", "8+2,10+4", "--read-errors", "0").stdout
    expect("11+ **" in text and "** 11 nines or more, device model only" in text, text)


def check_target():
    found = answer(*code_of(10, 4), "--target-nines", "6")
    expect(found["smallest"]["parity_shards"] == 4 or found["nines"] >= 6, f"{found}")
    smaller = found["smallest"]["parity_shards"] - 1
    expect(answer(*code_of(10, smaller))["nines"] < 6, f"{found['smallest']}")
    run(*code_of(10, 2), "--target-nines", "9", code=1)
    run(*code_of(10, 4), "--target-nines", "9")
    run(*code_of(10, 2))
    run("--compare", "10+4,10+2", "--target-nines", "9", code=1)
    lrc = answer("--profile", "lrc", *code_of(8, 4), "--groups", "2", "--target-nines", "6")
    expect(lrc["smallest"]["name"].startswith("lrc 8+2+"), f"{lrc['smallest']}")
    changes = answer()["sensitivity"]
    expect(len(changes) == 5, f"{changes}")
    for change in changes:
        expect(change["nines"] < answer()["nines"], f"{change}")


def check_fleet():
    row = answer(*code_of(12, 4), "--nodes", "10000", "--disks", "20")
    expect(row["groups"] == 12500 and near(row["usable_bytes"], 12500 * 12 * 16e12), f"{row}")
    traffic = row["repair_traffic"]
    failures = 200000 * -math.log1p(-0.015) / 365.25
    expect(near(traffic["failures_per_day"], failures), f"{traffic}")
    expect(near(traffic["read_bytes_per_day"], failures * 12 * 16e12), f"{traffic}")
    moved = failures * 13 * 16e12 / 86400 / 10000
    expect(near(traffic["bytes_per_s_and_node"], moved), f"{traffic}")
    expect(row["repair_traffic_of_other"]["code"] == "lrc 12+2+2", f"{row}")
    expect("lrc 12+2+2" in run(*code_of(12, 4), "--nodes", "10000").stdout, "no lrc next to it")
    spare = answer(*code_of(12, 4), "--devices", "100")
    expect(spare["groups"] == 6 and "4 of 100 devices" in spare["warnings"][0], f"{spare}")
    one = answer(*code_of(12, 4))
    expect(near(row["device_losses_per_year"] / one["device_losses_per_year"], 12500), f"{row}")


def check_bench_file():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "bench.json"
        rows = [{"operation": operation, "data_shards": k, "parity_shards": 4,
                 "shard_bytes": 4096, "path": "cpu:test", "gb_per_s": speed}
                for operation, k, speed in (("encode", 10, 0.001), ("decode", 10, 0.5),
                                            ("decode1", 10, 0.6), ("decode", 20, 0.2))]
        path.write_text(json.dumps({"rows": rows + [{"operation": "plan", "gb_per_s": None}]}))
        row = answer("--bench", str(path))
        expect(row["inputs"]["decode_bytes_per_s"] == 5e8, f"{row['inputs']}")
        expect(row["rebuild"]["bottleneck"] == "decoding", f"{row['rebuild']}")
        expect("cpu:test" in run("--bench", str(path)).stdout, "no origin of the rate")
        other = answer(*code_of(8, 2), "--bench", str(path))
        expect(other["inputs"]["decode_bytes_per_s"] == 2e8, f"{other['inputs']}")
        expect(any("8+2 is not in" in text for text in other["warnings"]), f"{other['warnings']}")
        for text in ("", "[]", '{"rows": [{"operation": "encode"}]}', '{"rows": [1, null]}'):
            path.write_text(text)
            expect("no decode rows" in run("--bench", str(path), code=3).stderr, text)
        expect("cannot read" in run("--bench", folder + "/none", code=4).stderr, "")
        measured = subprocess.run(
            [calpe, "bench", "--quick", "--seconds", "1", "--shape", "10+4", "--bytes", "64K",
             "--json"], capture_output=True, text=True)
        expect(measured.returncode == 0, measured.stderr)
        path.write_text(measured.stdout)
        row = answer("--bench", str(path))
        speeds = [each["gb_per_s"] for each in json.loads(measured.stdout)["rows"]
                  if each["operation"].startswith("decode")]
        expect(near(row["inputs"]["decode_bytes_per_s"], 1e9 * min(speeds)), f"{row}, {speeds}")
        expect("10+4" in row["decode_origin"] and row["warnings"], f"{row['decode_origin']}")


def check_plots():
    with tempfile.TemporaryDirectory() as folder:
        pictures = pathlib.Path(folder) / "new" / "pictures"
        text = run("--compare", "8+2,10+4,17+3,lrc:12+2+2", "--plot", str(pictures)).stdout
        expect(sorted(path.name for path in pictures.iterdir()) == ["loss.svg", "rebuild.svg"], "")
        for path in pictures.iterdir():
            expect(f"wrote {path}" in text, text)
            words = " ".join(xml.etree.ElementTree.parse(path).getroot().itertext())
            for word in ("8+2", "10+4", "17+3", "lrc 12+2+2", "probability of a loss", "11 nines",
                         "1.5 %"):
                expect(word in words, f"{word!r} is not in {path.name}: {words}")
        rows = [line.split()[0] for line in text.splitlines() if re.match(r"(\d+\+|lrc )", line)]
        expect(rows == ["8+2", "10+4", "17+3", "lrc"], f"{rows} in {text}")
        done = run("--plot", str(pictures / "loss.svg"), code=4)
        expect("loss.svg" in done.stderr and done.stdout == "", done.stderr)


def check_refusals():
    for arguments, code, words in (
            (["--write-rate", "0"], 3, ["write bandwidth is 0", "expected more than 0"]),
            (["--read-rate", "0"], 3, ["read bandwidth is 0"]),
            (["--network-rate", "0"], 3, ["network bandwidth is 0"]),
            (["--decode-rate", "0"], 3, ["decode rate is 0"]),
            (["--rebuild-share", "0"], 3, ["rebuild share is 0"]),
            (["--afr", "100%"], 3, ["annual failure rate is 1", "below 1"]),
            (["--afr", "1.5"], 3, ["1.5% or 0.015"]), (["--afr", "-1%"], 3, ["-0.01"]),
            (["--capacity", "many"], 3, ["--capacity", "many", "20T"]),
            (["--capacity", "20X"], 3, ["20X"]), (["--capacity", "0"], 3, ["capacity is 0"]),
            (["--devices", "3"], 3, ["3", "at least 14"]), (["--pool", "5"], 3, ["pool is 5"]),
            (["--weibull", "0,100"], 3, ["weibull shape is 0"]), (["--weibull", "1"], 3, []),
            (["--mttf-hours", "0"], 3, ["mean time to failure is 0"]),
            (["--afr", "1%", "--mttf-hours", "1e6"], 3, ["--afr"]),
            (["--compare", "10"], 3, ["10", "10+4"]), (["--compare", "lrc:12+4"], 3, ["12+2+2"]),
            (["--compare", "bogus:10+4"], 3, ["bogus", "lrc"]),
            (["--compare", "200+100"], 3, ["300", "256"]),
            (["--profile", "vandermonde-isal", "--parity", "5"], 1, ["not MDS"]),
            (["--mission-years", "0"], 3, ["mission is 0"]), (["--model", "guess"], 3, ["window"]),
            (["--shock-hit", "2"], 3, ["0 to 1"]), (["--batch-factor", "0"], 3, ["1 or more"])):
        done = run(*arguments, code=code)
        for word in words:
            expect(word in done.stderr, f"{arguments}: no {word!r} in {done.stderr!r}")
        expect(done.stdout == "", f"{arguments}: output despite an error: {done.stdout}")


def check_man_page():
    page = (root / "man/calpe-durability.1").read_text().replace("\\-", "-")
    page = page.replace("calpe bench --json", "")
    options = set(re.findall(r"--[a-z-]+", run("--help").stdout)) - {"--help"}
    expect(len(options) > 35, f"only {options} in the help")
    for option in options:
        expect(option in page, f"{option} is not in calpe-durability.1")
    for option in set(re.findall(r"--[a-z][a-z-]+", page)):
        expect(option in options, f"{option} of calpe-durability.1 is not in the help")
    expect("calpe\\-durability" in (root / "man/calpe.1").read_text(), "calpe.1 does not name it")


def main():
    check_table()
    check_published()
    check_sampling()
    check_causes()
    check_pool()
    check_lrc()
    check_extremes()
    check_believable()
    check_target()
    check_fleet()
    check_bench_file()
    check_plots()
    check_refusals()
    check_man_page()
    print("durability_test: good")


if __name__ == "__main__":
    main()
