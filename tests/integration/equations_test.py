#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests calpe equations and cauchyrs: published listings, checks, emitted code that runs.

Usage: equations_test.py CALPE MAN_PAGE
"""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CODE = ["--data", "5", "--parity", "2", "--word-bits", "3"]

# P. Sobe, "Parallel coding for storage systems" (2012), k = 5, m = 2, w = 3.
LISTING_1 = """u15 = XOR(u2,u3,u4,u5,u7,u9,u11,u12)
u16 = XOR(u0,u2,u3,u7,u8,u9,u10,u11,u13)
u17 = XOR(u1,u3,u4,u6,u8,u10,u11,u14)
u18 = XOR(u0,u2,u4,u6,u7,u8,u11,u12,u13)
u19 = XOR(u0,u1,u2,u4,u5,u6,u9,u11,u14)
u20 = XOR(u1,u2,u3,u5,u6,u7,u10,u12)
"""

# As printed, temporaries last.
LISTING_2 = """u15 = XOR(t1,t3,t4)
u16 = XOR(t4,t6,t7)
u17 = XOR(u3,u4,u8,t6,t9)
u18 = XOR(u2,u4,u6,u7,t3,t7)
u19 = XOR(u0,u2,u9,u11,t1,t9)
u20 = XOR(u5,u7,u10,u12,t0,t8)
t0 = XOR(u2,u3)
t1 = XOR(u4,u5)
t2 = XOR(u7,u9)
t3 = XOR(u11,u12)
t4 = XOR(t0,t2)
t5 = XOR(u0,u8)
t6 = XOR(u10,u11)
t7 = XOR(u13,t5)
t8 = XOR(u1,u6)
t9 = XOR(u14,t8)
"""

# RDP with p = 3 (2 data and 2 parity shards of 2 units): MDS, but not over a field.
RDP_3 = """u4 = XOR(u0,u2)
u5 = XOR(u1,u3)
u6 = XOR(u0,u5)   # diagonal 0, row parity included
u7 = XOR(u1,u2)
"""

FAKE_COMPILER = """#!/bin/sh
PATH={path}
for argument; do
  case $argument in *.c) sed -i '0,/ ^ /s// | /' "$argument" ;; esac
done
exec cc "$@"
"""

calpe = pathlib.Path(sys.argv[1])
man_page = pathlib.Path(sys.argv[2])
folder = pathlib.Path(tempfile.mkdtemp(prefix="calpe-equations-"))


def expect(claim, text):
    if not claim:
        sys.exit(f"equations_test: {text}")


def run(*arguments, program=calpe, given=None, code=0, path=os.environ["PATH"]):
    environment = dict(os.environ, CALPE_CACHE_DIR=str(folder / "cache"),
                       TMPDIR=str(folder / "tmp"), PATH=path)
    environment.pop("CALPE_CC", None)
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, input=given,
                          timeout=200, env=environment)
    expect(done.returncode == code, f"{' '.join(arguments)}: exit {done.returncode}; expected "
           f"{code}\n{done.stdout}{done.stderr}")
    return done


def equations(*arguments, **keywords):
    return run("equations", *arguments, **keywords)


def report(*arguments, **keywords):
    return json.loads(equations(*arguments, "--json", **keywords).stdout)


def write(name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def check_listings():
    expect(equations(*CODE).stdout == LISTING_1, "direct is not Listing 1")
    expect(equations("--data", "5", "--parity", "2").stdout == LISTING_1, "w is not 3 by default")
    expect(report(*CODE, "--stats")["xors"] == 45, "Listing 1 does not have 45 XORs")
    second = write("listing_2.eq", LISTING_2)
    said = equations(*CODE, "--equals", second).stdout
    expect("computes the same" in said and "33 XORs and 45" in said, f"Listing 2: {said}")
    figures = report("--from", second, *CODE)
    expect((figures["xors"], figures["temporaries"], figures["style"]) == (33, 10, "as given"),
           f"Listing 2 has {figures}")
    again = equations("--from", "-", *CODE, "--style", "direct", given=LISTING_2).stdout
    expect(again == LISTING_1, "Listing 2 in direct style is not Listing 1")
    wrong = write("wrong.eq", LISTING_2.replace("XOR(u7,u9)", "XOR(u7,u8)"))
    said = equations(*CODE, "--equals", wrong, code=1).stdout
    expect("does not compute the same" in said and "output 0" in said, f"wrong: {said}")


def check_styles():
    expect(report(*CODE, "--style", "iterative")["xors"] <= 33, "iterative has over 33 XORs")
    figures = report(*CODE, "--style", "optimised")
    expect(figures["xors"] <= 26, f"optimised has {figures['xors']} XORs")
    for name in ("xors3", "loads", "stores", "live_values", "temporaries", "inputs", "outputs",
                 "direct_xors", "seconds", "passes", "reads", "writes", "of"):
        expect(name in figures, f"no {name} in {figures}")
    expect(figures["xors"] == figures["loads"] - figures["stores"], f"figures are {figures}")
    traced = equations(*CODE, "--style", "optimised", "--trace")
    passes = re.findall(r"^(\w+) +(\d+) XORs", traced.stderr, re.M)
    expect(passes[0] == ("direct", "45") and len(passes) >= 3, f"trace: {traced.stderr}")
    expect(int(passes[-1][1]) == figures["xors"], f"trace: {traced.stderr}")
    disabled = [word for name, _ in passes[1:] for word in ("--disable-pass", name)]
    expect(report(*CODE, "--style", "optimised", *disabled)["xors"] == 45, "passes still run")
    seeded = [*CODE, "--style", "optimised", "--seed", "3"]
    expect(equations(*seeded).stdout == equations(*seeded).stdout, "not repeatable")
    expect("xors" in equations(*CODE, "--stats").stdout, "no table")


def check_decoders():
    text = equations(*CODE, "--lose", "0,3").stdout
    expect("# read: u0..u2 shard 1, u3..u5 shard 2, u6..u8 shard 4" in text, text)
    expect("# rebuilt: u15..u17 shard 0, u18..u20 shard 3" in text, text)
    # A decoder made from the equations alone, without the field, is the same.
    own = write("decoder.eq", equations("--from", write("1.eq", LISTING_1), *CODE, "--lose",
                                        "3,0").stdout)
    said = equations(*CODE, "--lose", "0,3", "--style", "optimised", "--equals", own).stdout
    expect("computes the same" in said, said)
    parity = report(*CODE, "--lose", "6")
    expect((parity["reads"], parity["writes"]) == ([0, 1, 2, 3, 4], [6]), f"{parity}")
    rdp = write("rdp.eq", RDP_3)
    text = equations("--from", rdp, "--word-bits", "2", "--lose", "0,1").stdout
    expect("# read: u0..u1 shard 2, u2..u3 shard 3" in text, text)
    group = report("--profile", "lrc", "--data", "12", "--parity", "4", "--groups", "2", "--lose",
                   "1")
    expect(len(group["reads"]) == 6, f"lrc reads {group['reads']}")


def all_patterns(shards, losses):
    return [list(p) for e in range(1, losses + 1) for p in itertools.combinations(range(shards), e)]


def rank(rows):
    count = 0
    rows = list(rows)
    while rows:
        pivot = rows.pop()
        if pivot:
            count += 1
            rows = [row ^ pivot if row & pivot & -pivot else row for row in rows]
    return count


def dead_patterns(direct, k, m, w):
    """Finds them independently: by the rank of the surviving units over the data units."""
    rows = [1 << u for u in range(k * w)]
    for line in direct.splitlines():
        rows.append(sum(1 << int(u) for u in re.findall(r"u(\d+)", line)[1:]))
    return [lost for lost in all_patterns(k + m, m)
            if rank(row for u, row in enumerate(rows) if u // w not in lost) < k * w]


def check_check():
    said = equations("--from", write("2.eq", LISTING_2), *CODE, "--check").stdout
    for words in ("MDS: every loss of up to 2 of 7 shards", LISTING_1, "p0 = 2 7 4 3 1", "0xb"):
        expect(words in said, f"no {words!r} in {said}")
    check = report("--from", write("rdp.eq", RDP_3), "--word-bits", "2", "--check")["check"]
    expect(check["mds"] and check["coefficients"] is None and check["patterns"] == 6, f"{check}")
    broken = LISTING_1.replace("u20 = XOR(u1,u2,u3", "u20 = XOR(u3")
    name = write("broken.eq", broken)
    dead = dead_patterns(broken, 5, 2, 3)
    expect(dead and not dead_patterns(LISTING_1, 5, 2, 3), f"dead patterns are {dead}")
    check = report("--from", name, *CODE, "--check", code=1)["check"]
    lost = check["dead_pattern"]
    expect(lost in dead and not check["mds"], f"{check}; expected one of {dead}")
    said = equations("--from", name, *CODE, "--check", code=1).stdout
    expect("not MDS: losing data 0, 2 cannot" in said and "not multiplications" in said, said)
    # The decoders agree for every loss.
    for pattern in all_patterns(7, 2):
        losing = ",".join(map(str, pattern))
        equations("--from", name, *CODE, "--lose", losing, code=1 if pattern in dead else 0)
    # 30 over 10 losses are too many to try. A Cauchy matrix is proven all the same; others are not.
    big = ["--data", "20", "--parity", "10", "--word-bits", "5"]
    text = equations(*big).stdout
    said = equations("--from", write("big.eq", text), *big, "--check").stdout
    expect("MDS: " in said and "Cauchy" in said, said[:300])
    odd = re.sub(r"XOR\(u\d+,", "XOR(", text, count=1)
    said = equations("--from", write("odd.eq", odd), *big, "--check", code=1).stderr
    expect("30045015 losses" in said and "fewer shards" in said, said)


def check_texts():
    words = {"c": "size_t", "openmp": "#pragma omp", "opencl": "__kernel void crs",
             "cuda": "__launch_bounds__(256) crs_4(", "ptx": ".visible .entry",
             "hip": "#include <hip/hip_runtime.h>"}
    for target, word in words.items():
        path = str(folder / f"emitted.{target}")
        done = equations(*CODE, "--emit", target, "--name", "crs", "--unit-bytes", "2048", "-o",
                         path)
        text = pathlib.Path(path).read_text(encoding="utf-8")
        expect(done.stdout == "" and word in text and "2048" in text, f"{target}: {text[:500]}")
    path = str(folder / "emitted.spirv")
    equations(*CODE, "--emit", "spirv", "--name", "crs", "-o", path)
    binary = pathlib.Path(path).read_bytes()
    expect(binary.startswith(b"\x03\x02\x23\x07") and b"crs_4\0" in binary, f"{binary[:200]}")
    dot = str(folder / "program.dot")
    expect(equations(*CODE, "--dot", dot).stdout == LISTING_1, "--dot changes the output")
    if shutil.which("dot"):
        drawn = subprocess.run(["dot", "-Tsvg", dot], capture_output=True, text=True, check=True)
        expect(drawn.stdout.count('class="edge"') == 51 and drawn.stderr == "", "dot: not 51 edges")
    else:
        print("equations_test: graphviz is not installed, the drawing was not tried")
    drawn = equations(*CODE, "--dot", "-", "--style", "iterative").stdout
    expect(drawn.startswith("digraph"), drawn)


def check_runs():
    runs = report(*CODE, "--style", "optimised", "--compile-run")["runs"]
    got = {entry["target"]: entry["outcome"] for entry in runs}
    print(f"equations_test: {got}")
    expect(list(got) == ["c", "openmp", "opencl", "cuda", "ptx", "hip", "spirv"], f"{got}")
    for target in ("c", "openmp", "cuda", "hip"):
        expect(got[target] == "equal", f"{runs}")
    expect(got["opencl"] in ("equal", "skipped") and all(
        got[target] in ("accepted", "skipped") for target in ("ptx", "spirv")), f"{runs}")
    said = equations(*CODE, "--lose", "1,6", "--compile-run", "--emit", "c", "--unit-bytes",
                     "30").stdout
    expect(re.match(r"c +equal .*units of 30 bytes", said), said)
    said = equations(*CODE, "--compile-run", "--unit-bytes", "1000000000000").stdout
    expect(said.count("skipped") == 7 and "--unit-bytes of at most" in said, said)
    # A compiler that turns the first XOR into an OR is detected. A missing compiler is no failure.
    tools = folder / "tools"
    tools.mkdir()
    said = equations(*CODE, "--compile-run", "--emit", "c", path=str(tools)).stdout
    expect(re.match(r"c +skipped .*apt install", said), said)
    fake = tools / "cc"
    fake.write_text(FAKE_COMPILER.format(path=os.environ["PATH"]), encoding="utf-8")
    fake.chmod(0o755)
    said = equations(*CODE, "--compile-run", "--emit", "c", path=str(tools), code=1).stdout
    expect(re.match(r"c +WRONG +units of 1 bytes", said), said)
    fake.write_text("#!/bin/sh\necho no code today\nexit 3\n", encoding="utf-8")
    said = equations(*CODE, "--compile-run", "--emit", "c", path=str(tools), code=1).stdout
    expect("exited with 3" in said and "no code today" in said, said)
    left = os.listdir(folder / "tmp")
    expect(not left, f"files left: {left}")


def check_matrices():
    known = equations(*CODE, "--matrix", "known", "--style", "optimised").stdout
    expect(known.startswith("# matrix (known): 5+2 w=3") and "# p0 = 1 1 1 1 1\n" in known, known)
    shape = ["--data", "4", "--parity", "2", "--word-bits", "5", "--matrix", "search", "--budget",
             "fast", "--style", "optimised"]
    found, again = report(*shape), report(*shape)
    expect(found["matrix"]["origin"] == "searched", f"{found}")
    expect(again["matrix"]["origin"] == "remembered", f"{again}")
    expect(found["matrix"]["line"] == again["matrix"]["line"], f"{found} {again}")
    expect(found["xors"] == again["xors"] <= report(*shape[:6], *shape[8:])["xors"], f"{found}")
    expect(report(*shape, "--check")["check"]["mds"], "not MDS")


def check_cauchyrs():
    cauchyrs = calpe.parent / "cauchyrs"
    path = folder / "crs5+2.cl"
    run("-k=5", "-m=2", "--ocl_encoder", f"--ocl_file={path}", "--ocl_unit_len=2048",
        "--ocl_encstyle=iterative", program=cauchyrs)
    text = path.read_text(encoding="utf-8")
    for words in ("Parameters: k=5, m=2, w=3", "__kernel void crs(", "2048", "t0"):
        expect(words in text, f"no {words!r} in {text}")
    text = run("-k=5", "-m=2", "--omp_encoder", "--omp_unit_len=2048", "--omp_encstyle=direct",
               program=cauchyrs).stdout
    expect("void calc(" in text and "45 XORs" in text, text)
    text = run("-k", "5", "-m", "2", "--omp_decoder", "--lost=0,3", program=cauchyrs).stdout
    expect("n holds shards 1, 2, 4, 5, 6, r shards 0, 3" in text, text)
    expect(run("-k=5", "-m=2", "-w=3", program=cauchyrs).stdout == LISTING_1, "no equations")
    expect("Example" in run("--help", program=cauchyrs).stdout, "no help")
    cases = [
        (["-k=5"], "-k=5 -m=2"),
        (["-k=five", "-m=2"], "five"),
        (["-k=5", "-m=2", "--ocl_encoder", "--ocl_encstyle=fast"], "iterative"),
        (["-k=5", "-m=2", "--ocl_decoder"], "--lost=0,3"),
        (["-k=5", "-m=2", "--fpga_encoder"], "--fpga_encoder"),
        (["-k=5", "-k=6", "-m=2"], "twice"),
        (["-k=5", "-m"], "no value"),
    ]
    for arguments, word in cases:
        said = run(*arguments, program=cauchyrs, code=3).stderr
        expect(word in said, f"{arguments}: no {word!r} in {said!r}")


def check_refusals():
    cases = [
        ([], 3, ["--data", "--from"]),
        (["--data", "5"], 3, ["--parity"]),
        ([*CODE, "--lose", "0,1,2"], 1, ["0, 1, 2"]),
        ([*CODE, "--lose", "9"], 3, ["0..6"]),
        ([*CODE, "--lose", "1,1"], 3, ["twice"]),
        ([*CODE, "--style", "best"], 3, ["optimised"]),
        ([*CODE, "--emit", "fortran"], 3, ["opencl"]),
        ([*CODE, "--style", "optimised", "--disable-pass", "magic"], 3, ["magic", "greedy"]),
        ([*CODE, "--trace"], 3, ["--style optimised"]),
        ([*CODE, "--unit-bytes", "64"], 3, ["--emit"]),
        ([*CODE, "--emit", "c", "--name", "1st"], 3, ["1st"]),
        ([*CODE, "-o", "/nowhere/x.c"], 4, ["/nowhere/x.c"]),
        ([*CODE, "--dot", "/nowhere/x.dot"], 4, ["/nowhere/x.dot"]),
        ([*CODE, "--lose", "0", "--check"], 3, ["--lose"]),
        ([*CODE, "--profile", "no-such-code"], 3, ["no-such-code"]),
        (["--profile", "vandermonde-isal", "--data", "10", "--parity", "5"], 1, ["not MDS"]),
        (["--data", "300", "--parity", "2"], 3, ["302", "256"]),
        (["--data", "7", "--parity", "3", "--matrix", "known"], 3, ["--matrix search"]),
        (["--from", "/nowhere/my.eq"], 4, ["/nowhere/my.eq"]),
        (["--from", write("bad.eq", "u1 = AND(u0)\n")], 3, ["bad.eq", "line 1", "XOR"]),
        (["--from", write("few.eq", LISTING_1), "--data", "4", "--parity", "2", "--word-bits",
          "3"], 3, ["u0..u11"]),
    ]
    for arguments, code, words in cases:
        done = equations(*arguments, code=code)
        for word in words:
            expect(word in done.stderr, f"{arguments}: no {word!r} in {done.stderr!r}")


def check_man_page():
    page = man_page.read_text(encoding="utf-8").replace("\\-", "-")
    for option in re.findall(r"^  (?:-o,)?(--[a-z-]+)", equations("--help").stdout, re.M):
        expect(f"{option}" in page or option == "--help", f"{option} is not in {man_page.name}")
    said = run("--help", program=calpe.parent / "cauchyrs").stdout
    for option in re.findall(r"--o[a-z_]+", said):
        expect(option in page, f"{option} is not in {man_page.name}")


def main():
    try:
        (folder / "tmp").mkdir()
        check_listings()
        check_styles()
        check_decoders()
        check_check()
        check_texts()
        check_matrices()
        check_cauchyrs()
        check_refusals()
        check_runs()
        check_man_page()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("equations_test: good")


if __name__ == "__main__":
    main()
