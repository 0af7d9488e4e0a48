#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`calpe devices` and `calpe selftest`: lists, rates, predictions, errors, exit codes.

Usage: devices_test.py REPOSITORY CALPE [--update]
--update only rewrites the predicted rates in docs/devices.md. This test calculates them
independently from the counts and the GPU file.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NOTE = "predicted, never measured by us"
GPUS = ["a100", "b200", "h100", "l40", "rtx4090"]
SOUND = {"name": "A GPU", "multiprocessors": "132", "clock_ghz": "1.755", "memory_gb_per_s": "3352",
         "l2_gb_per_s": "5500", "pcie_gb_per_s": "52"}

root = pathlib.Path(sys.argv[1])
calpe = sys.argv[2]


def expect(claim, text):
    if not claim:
        sys.exit(f"devices_test: {text}")


# Compiled kernels are cached for this test only.
cache = tempfile.TemporaryDirectory()


def run(*arguments, code=0, **changed):
    # Skip tuning, which compiles half a dozen kernels.
    environment = {**os.environ, "CALPE_CACHE_DIR": cache.name, "CALPE_DEVICE_TUNE": "0", **changed}
    done = subprocess.run([calpe, *arguments], capture_output=True, text=True, timeout=200,
                          cwd=root, env=environment, check=False)
    expect(code in (None, done.returncode), f"{arguments}: exit {done.returncode}; expected "
           f"{code}: {done.stdout}{done.stderr}")
    expect("\x1b" not in done.stderr, f"{arguments}: progress without a terminal: {done.stderr!r}")
    return done


def check_list():
    listed = json.loads(run("devices", "--no-rates", "--json").stdout)
    names = [row["name"] for row in listed]
    expect({"cpu", "reference"} <= set(names), f"backends are {names}")
    for row in listed:
        expect(row["available"] == (row["reason"] == ""), f"wrong reason: {row}")
        expect(row["gb_per_s"] is None and row["gb_per_s_packets"] is None, f"measured: {row}")
    table = run("devices", "--no-rates").stdout.splitlines()
    expect(len(table) == 1 + len(names), f"{len(table)} lines for {len(names)} backends")
    for name, line in zip(names, table[1:]):
        expect(line.split()[0] == name, f"{name} is not first in {line!r}")
    # CALPE_CPU selects the path.
    scalar = json.loads(run("devices", "--no-rates", "--json", CALPE_CPU="scalar").stdout)
    expect("scalar" in scalar[0]["description"], f"CALPE_CPU=scalar gives {scalar[0]}")


def check_rates():
    for row in json.loads(run("devices", "--json").stdout):
        # Stand-ins for a GPU and simulators have no rate.
        is_simulated = "PTX interpreter" in row["description"] or row["name"] == "reram"
        for name in ("gb_per_s", "gb_per_s_packets"):
            is_measured = row["available"] and not is_simulated
            expect((row[name] is not None) == is_measured, f"{name} of {row}")
            expect(not is_measured or 0 < row[name] < 10000, f"{name} of {row}")


def read_gpu(path):
    pairs = (line.split("#")[0].split("=", 1) for line in path.read_text().splitlines())
    return {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) == 2}


def expected_bounds(gpu, row):
    k, m = row["data_shards"], row["parity_shards"]
    clocks = 0.85 * float(gpu["multiprocessors"]) * float(gpu["clock_ghz"])
    return {"MEM": 0.90 * float(gpu["memory_gb_per_s"]) * k / (k + m),
            "ALU": clocks * 64 / row["alu_per_byte"],
            "ISSUE": clocks * 128 / row["issue_per_byte"],
            "L2": 0.8 * float(gpu["l2_gb_per_s"]) / (row["row_groups"] + m / k)}


def check_prediction(gpu, row):
    near = lambda a, b: abs(a - b) < 1e-6 * b
    bounds = expected_bounds(gpu, row)
    expect(row["bounds"].keys() == bounds.keys(), f"bounds of {row}")
    for unit, rate in bounds.items():
        expect(near(row["bounds"][unit], rate), f"{unit} is {row['bounds'][unit]}; expected {rate}")
    unit = min(bounds, key=bounds.get)
    expect(row["limit"] == unit and near(row["gb_per_s"], bounds[unit]), f"limit of {row}")
    pcie, ratio = float(gpu["pcie_gb_per_s"]), row["data_shards"] / row["parity_shards"]
    host = min(pcie, pcie * ratio, row["gb_per_s"])
    expect(near(row["host_gb_per_s"], host), f"host rate of {row}; expected {host}")
    expect(row["host_limit"] == ("LINK" if host < row["gb_per_s"] else unit), f"of {row}")
    expect(row["note"] == NOTE, f"no note in {row}")


def check_predictions():
    expect(sorted(path.stem for path in (root / "examples/gpus").glob("*.gpu")) == GPUS,
           "unexpected files in examples/gpus")
    for name in GPUS:
        path = root / f"examples/gpus/{name}.gpu"
        # Small shapes, whose programs are found at once.
        answer = json.loads(run("devices", "--predict", str(path), "--shape", "4+2", "--shape",
                                "2+4", "--json").stdout)
        expect(len(answer["rows"]) == 4, f"{len(answer['rows'])} rows; expected both layouts")
        for row in answer["rows"]:
            check_prediction(read_gpu(path), row)
    table = run("devices", "--predict", "examples/gpus/h100.gpu", "--shape", "10+4").stdout
    lines = [line for line in table.splitlines() if line and not line.startswith("CODE")]
    expect(len(lines) == 3 and all(NOTE in line for line in lines), f"no note: {table}")
    # 0.9 * 3352 * 10/14 GB/s, in both layouts.
    expect(len(re.findall(r"\b2155 MEM\b.*\b52\.0 LINK\b", table)) == 2, f"H100 10+4: {table}")


def documented_rows():
    """Lines of the table in docs/devices.md; the counts are the same for every GPU."""
    answer = json.loads(run("devices", "--predict", "examples/gpus/h100.gpu", "--json").stdout)
    for row in answer["rows"]:
        cells = []
        for name in ("a100", "h100", "l40", "rtx4090", "b200"):
            bounds = expected_bounds(read_gpu(root / f"examples/gpus/{name}.gpu"), row)
            unit = min(bounds, key=bounds.get)
            cells.append(f"{bounds[unit]:.0f} {unit}")
        groups = "1 row group" if row["row_groups"] == 1 else f"{row['row_groups']} row groups"
        yield (f"| {row['data_shards']}+{row['parity_shards']} {row['layout']}: ALU "
               f"{row['alu_per_byte']:.2f}, issue {row['issue_per_byte']:.2f}, {groups} | "
               + " | ".join(cells) + " |")


def check_documented_rates(is_update=False):
    path = root / "docs/devices.md"
    text = path.read_text()
    pattern = re.compile(r"(?:^\| \d+\+\d+ (?:bytes|packets): .*\n)+", re.M)
    expect(len(pattern.findall(text)) == 1, "docs/devices.md needs one table of predictions")
    new = "".join(line + "\n" for line in documented_rows())
    if is_update:
        path.write_text(pattern.sub(new, text))
        return
    expect(new in text, "docs/devices.md and `calpe devices --predict` differ: "
           f"run devices_test.py with --update. Now:\n{new}")
    for name in GPUS:
        gpu = read_gpu(root / f"examples/gpus/{name}.gpu")
        inputs = ", ".join(gpu[key] for key in list(SOUND)[1:])
        expect(f"| {inputs} |" in text, f"docs/devices.md lacks the inputs {inputs} of {name}")


def check_slow_alu():
    """The slowest unit limits a GPU."""
    for changed, unit in (({"alu_lanes_per_clock": "1"}, "ALU"),
                          ({"issue_lanes_per_clock": "1"}, "ISSUE"),
                          ({"l2_gb_per_s": "100"}, "L2"), ({"memory_gb_per_s": "9"}, "MEM")):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "some.gpu"
            path.write_text("".join(f"{k} = {v}\n" for k, v in {**SOUND, **changed}.items()))
            answer = json.loads(run("devices", "--predict", str(path), "--shape", "4+2",
                                    "--json").stdout)
            expect({row["limit"] for row in answer["rows"]} == {unit}, f"{changed}: {answer}")


def check_malformed():
    text = "".join(f"{key} = {value}\n" for key, value in SOUND.items())
    cases = [
        (text.replace("132", "many"), ["some.gpu:2:", "multiprocessors", '"many"', "a number"]),
        (text.replace("1.755", "-1"), ["some.gpu:3:", "clock_ghz", '"-1"', "above 0"]),
        (text.replace("1.755", "1.7 GHz"), ["some.gpu:3:", '"1.7 GHz"']),
        (text.replace("1.755", ""), ["some.gpu:3:", 'clock_ghz is ""']),
        (text.replace("1.755", "inf"), ["some.gpu:3:", '"inf"']),
        (text.replace("clock_ghz", "clock"), ["some.gpu:3:", '"clock"', "clock_ghz"]),
        (text.replace("clock_ghz = 1.755\n", ""), ["some.gpu: no clock_ghz"]),
        (text.replace("name = A GPU\n", ""), ["some.gpu: no name"]),
        (text.replace("A GPU", ""), ["some.gpu:1:", "name is empty"]),
        (text + "# a comment\nclock_ghz = 2\n", ["some.gpu:8:", "clock_ghz", "twice", "line 3"]),
        (text + "name = again\n", ["some.gpu:7:", "name", "twice", "line 1"]),
        (text + "fast\n", ["some.gpu:7:", '"fast"', "key = value"]),
        (text + "l2_efficiency = 1.5\n", ["some.gpu:7:", '"1.5"', "at most 1"]),
        ("", ["some.gpu: no name"]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "some.gpu"
        for content, words in cases:
            path.write_text(content)
            done = run("devices", "--predict", str(path), code=3)
            for word in words:
                expect(word in done.stderr, f"no {word!r} in {done.stderr!r}")
            expect(done.stdout == "", f"output despite an error: {done.stdout}")
        expect("cannot read" in run("devices", "--predict", folder, code=4).stderr, "a folder")
    h100 = "examples/gpus/h100.gpu"
    for arguments, word in ((["--shape", "10"], "10+4"), (["--shape", "10+"], "10+4"),
                            (["--shape", "200+100"], "256"), (["--shape", "0+4"], "10+4"),
                            (["--profile", "bogus"], "bogus"),
                            (["--profile", "lch", "--word-bits", "4"], "packets")):
        done = run("devices", "--predict", h100, *arguments, code=3)
        expect(word in done.stderr, f"{arguments}: no {word!r} in {done.stderr!r}")
    run("devices", "--predict", "examples/gpus/none.gpu", code=4)
    run("devices", "--shape", "10+4", code=3)
    run("devices", "--no-rates", "--predict", h100, code=3)


def check_selftest():
    answer = json.loads(run("selftest", "--backend", "cpu", "--json").stdout)
    expect(answer["passed"] and len(answer["backends"]) == 1, f"cpu: {answer}")
    report = answer["backends"][0]
    # 3+2, 4+2 and 4+3 have 15, 21 and 63 losses, in both layouts.
    expect(report["checks"] > 2 * (15 + 21 + 63), f"only {report['checks']} checks")
    expect([rate["layout"] for rate in report["rates"]] == ["bytes", "packets"], f"{report}")
    expect(all(rate["gb_per_s"] > 0 for rate in report["rates"]), f"rates of {report}")
    techniques = {row["name"]: row["built"] for row in answer["techniques"]}
    expect("additive-fft" in techniques and all(techniques.values()), f"techniques: {techniques}")
    table = run("selftest", "--backend", "jit", "--no-rates").stdout
    expect("additive-fft; left out of this build: none\n" in table, f"techniques: {table}")
    expect("all passed" in table and "GB/s" not in table, f"jit: {table}")


def check_selftest_failures():
    planted = run("selftest", "--backend", "cpu", "--plant-error", code=1).stdout
    expect(re.search(r"shard \d+ has 0x..? at byte \d+; expected 0x", planted), planted)
    expect("GB/s" not in planted, f"a rate despite wrong bytes: {planted}")
    answer = json.loads(run("selftest", "--backend", "cpu", "--plant-error", "--json",
                            code=1).stdout)
    expect(not answer["passed"] and answer["backends"][0]["failures"], f"{answer}")
    expect("bogus" in run("selftest", "--backend", "bogus", code=3).stderr, "unknown backend")
    expect("cpu:none" in run("selftest", "--backend", "cpu:none", code=3).stderr, "no such path")
    run("selftest", "--gpu", "--backend", "cpu", code=3)
    run("selftest", "--predict", "examples/gpus/h100.gpu", code=3)
    done = run("selftest", "--gpu", "--predict", "examples/gpus/none.gpu", code=4)
    expect("none.gpu" in done.stderr, f"missing file: {done.stderr}")


CHECKS = ["memories", "odd addresses", "many stripes", "long shards", "packets", "table kernels",
          "threads", "repeated", "too much memory", "kernel cache"]


def check_report():
    """The file of --report: complete, names what fails, and holds nothing private."""
    with tempfile.TemporaryDirectory() as made:
        path = pathlib.Path(made) / "private" / "gpu.json"
        missing = run("selftest", "--backend", "cpu", "--report", str(path), code=4)
        expect("gpu.json" in missing.stderr and "cannot write" in missing.stderr, missing.stderr)
        path.parent.mkdir()
        run("selftest", "--report", str(path), code=3)
        expect(not list(path.parent.iterdir()), "wrong usage wrote a file")
        done = run("selftest", "--backend", "cpu", "--no-rates", "--report", str(path),
                   CALPE_CPU="avx2", CALPE_DUMP="")
        expect(f"report: {path}" in done.stdout, done.stdout)
        report = json.loads(path.read_text())
        expect(list(path.parent.iterdir()) == [path], "another file than the report is left")
        expect(report["passed"] is True and report["running"] == "", f"{report}")
        expect(report["environment"]["CALPE_CPU"] == "avx2", f"{report['environment']}")
        expect("private" not in path.read_text(), "the report has a directory of this machine")
        expect(len(report["available"]) > 3 and report["machine"]["cpu"], f"{report}")
        device, = report["devices"]
        names = [check["name"] for check in device["checks_of_device"]]
        expect(names == CHECKS, f"checks are {names}; expected {CHECKS}")
        expect(all(check["passed"] for check in device["checks_of_device"]), f"{device}")
        expect(device["checks"] > 2 * (15 + 21 + 63) and device["passed"], f"{device}")

        planted = run("selftest", "--backend", "cpu", "--no-rates", "--plant-error", "--report",
                      str(path), code=1).stdout
        report = json.loads(path.read_text())
        device, = report["devices"]
        failed = [check["name"] for check in device["checks_of_device"] if check["failures"]]
        expect(report["passed"] is False and not device["passed"], "a planted error passed")
        expect(failed == CHECKS[:1] and "memories: byte" in planted, f"failed: {failed}: {planted}")


def check_no_gpu():
    """Without opencl, cuda and vulkan, --gpu exits with 4."""
    listed = json.loads(run("devices", "--no-rates", "--json").stdout)
    gpus = [row for row in listed if re.match(r"(opencl|cuda|vulkan)\b", row["name"])]
    if any(row["available"] for row in gpus):
        print("devices_test: a GPU or stand-in is available: missing GPU not tested")
        return
    done = run("selftest", "--gpu", code=4)
    expect("no GPU is available" in done.stderr, f"no GPU: {done.stderr}")
    for row in gpus:
        expect(row["reason"] in done.stderr, f"{row['reason']!r} is not in {done.stderr!r}")


def check_lost_device():
    """A disabled device fails the selftest, although the CPU finishes its work."""
    listed = json.loads(run("devices", "--no-rates", "--json").stdout)
    if not any(row["name"] == "opencl:0" and row["available"] for row in listed):
        print("devices_test: no opencl:0: a hung device is not tested")
        return
    # First without a limit, so that PoCL caches its kernels. Its threads, compiling for abandoned
    # work, can crash next to another compiler (docs/devices.md).
    run("selftest", "--backend", "opencl:0", "--no-rates", CALPE_CACHE_DIR="")
    done = run("selftest", "--backend", "opencl:0", "--no-rates", code=None,
               CALPE_DEVICE_TIMEOUT_MS="1", CALPE_CACHE_DIR="")
    if done.returncode == 0:
        print("devices_test: everything took less than 1 ms: a hung device is not tested")
        return
    expect(done.returncode == 1, f"a device that hangs: exit {done.returncode}; expected 1")
    expect("WRONG" in done.stdout, f"a device that hangs: {done.stdout}")


def check_man_pages():
    for verb in ("devices", "selftest"):
        page = (root / f"man/calpe-{verb}.1").read_text().replace("\\-", "-")
        options = set(re.findall(r"--[a-z-]+", run(verb, "--help").stdout)) - {"--help"}
        expect(len(options) > 3, f"only {options} in the help of {verb}")
        for option in options:
            expect(option in page, f"{option} is not in calpe-{verb}.1")


def main():
    if sys.argv[3:] == ["--update"]:
        check_documented_rates(is_update=True)
        return
    check_list()
    check_rates()
    check_predictions()
    check_documented_rates()
    check_slow_alu()
    check_malformed()
    check_selftest()
    check_selftest_failures()
    check_report()
    check_no_gpu()
    check_man_pages()
    check_lost_device()
    print("devices_test: good")


if __name__ == "__main__":
    main()
