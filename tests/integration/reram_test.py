#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`calpe reram`: counts, modes, rates, noise, baselines, plots, errors, exit codes.

Usage: reram_test.py REPOSITORY CALPE
Measured rates are not judged; the test only checks that they exist and that ratios follow.
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

root = pathlib.Path(sys.argv[1])
calpe = sys.argv[2]

BASELINES = ["paper-cpu", "jerasure-packet-8", "jerasure-packet-2048", "calpe-packets",
             "calpe-bytes"]


def expect(claim, text):
    if not claim:
        sys.exit(f"reram_test: {text}")


def near(value, expected, part=1e-9):
    return abs(value - expected) <= part * abs(expected)


def run(*arguments, code=0, **changed):
    done = subprocess.run([calpe, "reram", "--seconds", "0.01", *arguments], capture_output=True,
                          text=True, timeout=200, check=False, env={**os.environ, **changed})
    expect(done.returncode == code, f"{arguments}: exit {done.returncode}; expected {code}: "
           f"{done.stdout}{done.stderr}")
    expect("\x1b" not in done.stderr, f"{arguments}: progress without a terminal: {done.stderr!r}")
    return done


def answer(*arguments, **more):
    """Runs with --json (64 KiB by default) and checks what every report must satisfy."""
    size = () if "--bytes" in arguments else ("--bytes", "64K")
    report = json.loads(run(*arguments, *size, "--json", **more).stdout)
    expect(report["errors"]["is_noisy"] or report["errors"]["wrong_bits"] == 0
           or more.get("code") == 1, f"{arguments}: wrong bytes, and exit 0")
    expect(near(report["bytes_per_s"] * report["simulated_seconds"], report["bytes_read"]),
           f"{arguments}: the rate is not bytes over seconds: {report}")
    check_baselines(report)
    return report


def check_baselines(report):
    rows = report["baselines"]
    expect([row["id"] for row in rows] == BASELINES, f"baselines are {rows}")
    for row in rows:
        for word in ("library", "matrix", "packets", "machine"):
            expect(row[word] and row[word] in row["name"], f"{word} is not in the name of {row}")
        expect((row["bytes_per_s"] is None) == (row["problem"] != ""), f"rate or problem: {row}")
        expect((row["speed_up"] is None) == (row["bytes_per_s"] is None), f"{row}")
        if row["speed_up"] is None:
            continue
        expect(near(row["speed_up"] * row["bytes_per_s"], report["bytes_per_s"]), f"{row}")
        expect((row["median_bytes_per_s"] is not None) == row["measured"], f"{row}")
        # Baselines that are faster than the simulation follow "but only"; all are named.
        sentence = report["conclusions"][0]
        before, _, after = sentence.partition("but only ")
        if not after and row["speed_up"] < 1:
            before, after = "", sentence
        side = before if row["speed_up"] > 1 else after
        expect(f"x as fast as {row['name']}" in side, f"{row['name']} is not in {side!r}")
    expect(all(row["bytes_per_s"] for row in rows[3:]), f"Calpe is not measured: {rows}")
    claims = report["paper_claims"]
    decode = [claim for claim in claims if claim["what"].startswith("decode")]
    expect({"60.4x", "51.6x to 149.7x"} <= {claim["figure"] for claim in decode}, f"{claims}")
    for claim in decode:
        expect(not claim["derivable"] and claim["standing"].startswith("not derivable"), f"{claim}")


def check_encode():
    """64 activations per 640 bytes; the table shows the same as the JSON."""
    report = answer("--data", "10", "--parity", "4", "--bytes", "1000000")
    counts, stripes = report["counts"], report["stripes"]
    expect(stripes == math.ceil(1000000 / 640), f"{stripes} stripes of 640 bytes")
    expect(report["bytes_read"] == 640 * stripes == counts["bytes_in"], f"{report}")
    expect(report["bytes_written"] == 256 * stripes == counts["bytes_out"], f"{report}")
    expect(counts["activations"] == 64 * stripes, f"{counts}")
    expect(counts["activations_per_stripe"] == 64 and counts["bytes_per_activation"] == 10, "")
    expect(counts["adc_conversions"] == 32 * counts["activations"], f"{counts}")
    expect(counts["matrix_row_writes"] == 80 * 32, f"32 crossbars, 80 rows each: {counts}")
    expect(counts["data_row_writes"] == counts["partial_row_writes"] == 0, f"{counts}")
    expect(report["mode"]["name"] == "matrix" and report["mode"]["grid"] == [1, 1], f"{report}")
    expect(report["wear"]["most_written_row"] == 1, f"{report['wear']}")
    expect(report["wear"]["seconds_to_endurance"] is None, f"{report['wear']}")
    expect(report["energy"] == "not modelled" and report["energy_joules"] is None, f"{report}")

    table = run("--data", "10", "--parity", "4", "--bytes", "1000000").stdout
    for text in (f"{counts['activations']}: 64 per stripe, 10 bytes read per activation",
                 f"{report['bytes_per_s'] * 1e-6:.1f} MB/s of the 10 shards read",
                 f"{report['steady_bytes_per_s'] * 1e-6:.1f} MB/s in steady state",
                 f"{report['baselines'][0]['speed_up']:.3g}x", "not modelled",
                 "not derivable from the source", "All bytes match the CPU result", "no evidence",
                 f"{counts['adc_conversions']}, largest sum {counts['largest_sum']}, 0 clipped",
                 "fit: read_ns", "simulated in "):
        expect(text in table, f"{text!r} is not in {table}")
    for row in report["baselines"]:
        line = [line for line in table.splitlines() if line.endswith(row["name"])]
        expect(len(line) == 1, f"{row['name']!r} is in {len(line)} lines")
        expect(("x " in line[0]) == (row["speed_up"] is not None), f"a speed-up in {line[0]!r}")


def check_paper():
    """The calibration, which must be labelled as one."""
    ten = answer("--data", "10", "--parity", "2", "--bytes", "8M")
    paper = ten["baselines"][0]
    expect(near(paper["bytes_per_s"], 258.7e6) and near(paper["speed_up"], 19, 0.02), f"{paper}")
    expect("interpolated" not in paper["name"], f"{paper}")
    forty = answer("--data", "40", "--parity", "2", "--bytes", "1M")
    ratio = forty["steady_bytes_per_s"] / ten["steady_bytes_per_s"]
    expect(near(ratio, 1.72, 0.02), f"{ratio} times from k = 10 to k = 40")
    expect(near(forty["baselines"][0]["bytes_per_s"], 248.6e6), f"{forty['baselines'][0]}")
    expect("interpolated" in answer()["baselines"][0]["name"], "10+4 is not in the paper")
    expect("calibrated" in ten["conclusions"][-1], f"{ten['conclusions']}")
    expect("8 bytes" in ten["conclusions"][-2], f"{ten['conclusions']}")


def check_xor_mode():
    report = answer("--lose", "3")
    counts, blocks = report["counts"], report["bytes_written"] // 64
    expect(report["mode"]["name"] == "xor" and report["mode"]["ssds"] == 10, f"{report['mode']}")
    expect(report["reads"] == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10] and report["writes"] == [3], "")
    expect(counts["activations"] == blocks, f"{blocks} blocks of 64 bytes: {counts}")
    expect(counts["data_row_writes"] == 10 * blocks, f"{blocks} blocks of 64 bytes: {counts}")
    expect(counts["matrix_row_writes"] == 0 and counts["largest_sum"] <= 10, f"{counts}")
    wear = report["wear"]
    expect(near(wear["seconds_to_endurance"] * wear["writes_per_second"], 1e9), f"{wear}")
    expect(report["baselines"][0]["problem"], "the paper has no decode rate")
    expect(answer("--lose", "3", "--ssds", "4")["mode"]["ssds"] == 4, "4 SSDs")
    expect(answer("--parity", "1")["mode"]["name"] == "matrix", "encoding must not run in the SSDs")
    by_matrix = answer("--lose", "3", "--no-xor-mode")
    expect(by_matrix["mode"]["name"] == "matrix", f"{by_matrix['mode']}")
    expect(by_matrix["counts"]["activations"] == 64 * by_matrix["stripes"], f"{by_matrix}")


def check_losses():
    for lost in ([0, 3], [0, 3, 11, 13], [12]):
        report = answer("--lose", ",".join(map(str, lost)))
        expect(report["writes"] == lost and not set(lost) & set(report["reads"]), f"{report}")
        expect(report["mode"]["outputs"] == 8 * len(lost), f"{report['mode']}")
        expect(report["counts"]["activations"] == 64 * report["stripes"], f"{report['counts']}")


def check_combined(report, how, grid):
    expect(report["mode"]["name"] == "combination", f"{report['mode']}")
    expect(report["mode"]["combine"] == how and report["mode"]["grid"] == grid, f"{report}")
    counts, vectors = report["counts"], 64 * report["stripes"]
    expect(counts["activations"] == vectors * grid[0] * grid[1], f"{counts}")
    is_digital = how == "digital"
    expect(counts["partial_row_writes"] == (0 if is_digital else vectors * grid[1]), f"{counts}")
    expect(counts["combined_bits"] == (vectors * report["mode"]["outputs"] if is_digital else 0),
           f"{counts}")
    expect((report["wear"]["seconds_to_endurance"] is None) == is_digital, f"{report['wear']}")


def check_combination():
    check_combined(answer("--data", "100", "--parity", "20"), "rewrite", [2, 1])
    check_combined(answer("--data", "70", "--parity", "4", "--combine", "digital"), "digital",
                   [2, 1])
    small = ["--data", "10", "--parity", "2", "--grid", "2x2"]
    rewritten, digital = answer(*small), answer(*small, "--combine", "digital")
    check_combined(rewritten, "rewrite", [2, 2])
    check_combined(digital, "digital", [2, 2])
    expect(digital["steady_bytes_per_s"] > rewritten["steady_bytes_per_s"], "rewriting is free")


def tail(x):
    return 0.5 * math.erfc(x / math.sqrt(2))


def xor_error_rate(rows, variation):
    """All rows driven, each cell 1 or 0 with equal chances, zeros without conductance."""
    rate = 0
    for ones in range(1, rows + 1):
        deviation = variation * math.sqrt(ones)
        odd = 2 * sum((-1) ** i * tail((i + 0.5) / deviation) for i in range(60))
        rate += math.comb(rows, ones) / 2 ** rows * odd
    return rate


def check_noise():
    noisy = ["--lose", "3", "--ssds", "1", "--set", "variation=0.1"]
    first = answer(*noisy, "--bytes", "1M")["errors"]
    expect(first == answer(*noisy, "--bytes", "1M")["errors"], "same seed, other errors")
    other = answer(*noisy, "--bytes", "1M", "--set", "seed=2")["errors"]
    expect(other["wrong_bits"] != first["wrong_bits"], f"other seed, same errors: {other}")
    expected = xor_error_rate(10, 0.1)
    expect(near(first["closed_form_rate"], expected, 1e-6), f"{first}; expected {expected}")
    expect(near(first["rate"], expected, 0.05) and first["wrong_bits"] > 10000, f"{first}")
    encode = answer("--set", "variation=0.03", "--set", "on_off_ratio=20", "--target-rate", "1e-6",
                    "--bytes", "1M")
    errors = encode["errors"]
    expect(errors["wrong_bits"] > 0 and near(errors["rate"], errors["closed_form_rate"], 0.5),
           f"{errors}")
    expect(errors["rows_driven"] == 80 and 0 < errors["rows_for_target"] < 80, f"{errors}")
    expect(any(f"--active-rows {errors['rows_for_target']}" in text
               for text in encode["warnings"]), f"{encode['warnings']}")
    expect(any("wrong" in text for text in encode["conclusions"]), f"{encode['conclusions']}")
    fewer = answer("--set", "variation=0.03", "--set", "on_off_ratio=20", "--target-rate", "1e-6",
                   "--bytes", "1M", "--active-rows", str(errors["rows_for_target"]))
    expect(fewer["errors"]["wrong_bits"] < errors["wrong_bits"] / 10, f"{fewer['errors']}")
    expect(fewer["errors"]["closed_form_rate"] is None and not fewer["warnings"], f"{fewer}")
    table = run(*noisy, "--bytes", "64K").stdout
    expect("wrong bits" in table and "for an error rate of 1e-15" in table, table)
    stuck = answer("--set", "stuck_at_1=0.01")
    expect(stuck["errors"]["wrong_bits"] > 0, f"no errors with 1 % stuck cells: {stuck}")


def check_converter():
    """Converters with too few bits cause wrong bytes, which is an error."""
    done = run("--set", "adc_bits=4", "--bytes", "64K", code=1)
    expect("adc_bits=6" in done.stderr and "WRONG BYTES" in done.stdout, done.stdout + done.stderr)
    expect("WARNING: converters of 4 bits" in done.stdout, done.stdout)
    report = answer("--set", "adc_bits=4", code=1)
    expect(report["counts"]["clipped_sums"] > 0 and report["adc_bits_needed"] == 6, f"{report}")
    answer("--set", "adc_bits=4", "--active-rows", "15")


def check_energy_and_parameters():
    report = answer("--preset", "nvsim-32nm")
    expect(report["energy_joules"] > 0 and "lower bound" in report["energy"], f"{report['energy']}")
    expect("pJ per byte" in run("--preset", "nvsim-32nm", "--bytes", "64K").stdout, "no energy")
    expect(report["parameters"]["read_word_pj"]["origin"] == "nvsim", f"{report['parameters']}")
    expect("calibrated" not in report["conclusions"][-1], f"{report['conclusions']}")
    text = run("--print-parameters", "--set", "rows=514").stdout
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "my.reram"
        path.write_text(text)
        expect(run("--parameters", str(path), "--print-parameters").stdout == text, "not the same")
        report = answer("--parameters", str(path))
    for name, parameter in report["parameters"].items():
        found = re.search(rf"^{name} *= *(\S+) +(\w+)", text, re.M)
        expect(found and float(found[1]) == parameter["value"], f"{name} is not in {text}")
        expect(found[2] == parameter["origin"], f"the origin of {name} is not in {text}")
    expect(len(report["parameters"]) == text.count("\n") - 1, "a parameter is missing")
    expect(report["parameters"]["rows"] == {"value": 514, "origin": "user"}, f"{report}")


def check_without_jerasure():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "libJerasure.so.2").write_text("no library")
        rows = answer(LD_LIBRARY_PATH=folder)["baselines"]
        expect(all("libjerasure2" in row["problem"] for row in rows[1:3]), f"{rows}")


def check_plots():
    with tempfile.TemporaryDirectory() as folder:
        pictures = pathlib.Path(folder) / "new" / "pictures"
        report = answer("--plot", str(pictures))
        names = sorted(path.name for path in pictures.iterdir())
        expect(names == ["errors.svg", "throughput.svg", "wear.svg"], f"written: {names}")
        expect(sorted(report["plots"]) == [str(pictures / name) for name in names], f"{report}")
        texts = {}
        for path in pictures.iterdir():
            tree = xml.etree.ElementTree.parse(path)
            expect(tree.getroot().tag.endswith("svg"), f"{path.name}: {tree.getroot().tag}")
            texts[path.name] = " ".join(tree.getroot().itertext())
        for name, words in (("throughput.svg", ["m = 16", "Calpe", "calibrated", "Jerasure"]),
                            ("errors.svg", ["10 %", "3 %", "1 %"]),
                            ("wear.svg", ["XOR mode", "digital", "rewriting", "normal"])):
            for word in words:
                expect(word in texts[name], f"{word!r} is not in {name}: {texts[name]}")
        done = run("--bytes", "64K", "--plot", str(pictures / "wear.svg"), code=4)
        expect("wear.svg" in done.stderr and done.stdout == "", done.stderr)


def check_refusals():
    for arguments, code, words in (
            (["--preset", "bogus"], 3, ["bogus", "reraid-fit", "nvsim-32nm"]),
            (["--set", "bogus=1"], 3, ["--set", "bogus", "variation"]),
            (["--set", "rows=many"], 3, ["--set", "rows", "many"]),
            (["--set", "rows"], 3, ["key=value"]),
            (["--parameters", "none.reram"], 4, ["none.reram"]),
            (["--parameters", "none.reram", "--preset", "reraid-fit"], 3, ["--preset"]),
            (["--lose", "0,1,2,3,4"], 1, ["0, 1, 2, 3, 4", "cannot be rebuilt"]),
            (["--lose", "14"], 3, ["14", "0..13"]), (["--lose", "1,1"], 3, ["twice"]),
            (["--grid", "1x1", "--data", "100"], 3, ["1x1", "2x1"]),
            (["--grid", "9x9"], 3, ["81", "32"]), (["--grid", "2"], 3, ["--grid", "2x2"]),
            (["--grid", "0x2"], 3, ["--grid"]), (["--grid", "2x2x2"], 3, ["--grid"]),
            (["--bytes", "many"], 3, ["--bytes", "many", "8M"]),
            (["--data", "200", "--parity", "100"], 3, ["256"]), (["--data", "0"], 3, ["--data"]),
            (["--combine", "bogus"], 3, ["rewrite"]),
            (["--target-rate", "1"], 3, ["--target-rate"])):
        done = run(*arguments, code=code)
        for word in words:
            expect(word in done.stderr, f"{arguments}: no {word!r} in {done.stderr!r}")
        expect(done.stdout == "", f"{arguments}: output despite an error: {done.stdout}")


def check_man_page():
    page = (root / "man/calpe-reram.1").read_text().replace("\\-", "-")
    options = set(re.findall(r"--[a-z-]+", run("--help").stdout)) - {"--help"}
    expect(len(options) > 10, f"only {options} in the help")
    for option in options:
        expect(option in page, f"{option} is not in calpe-reram.1")
    for option in set(re.findall(r"--[a-z][a-z-]+", page)):
        expect(option in options, f"{option} of calpe-reram.1 is not in the help")
    expect("calpe\\-reram" in (root / "man/calpe.1").read_text(), "calpe.1 does not name it")


def main():
    check_encode()
    check_paper()
    check_xor_mode()
    check_losses()
    check_combination()
    check_noise()
    check_converter()
    check_energy_and_parameters()
    check_without_jerasure()
    check_plots()
    check_refusals()
    check_man_page()
    print("reram_test: good")


if __name__ == "__main__":
    main()
