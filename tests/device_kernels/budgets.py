#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the instruction budgets of the PTX kernels in the machine code of NVIDIA's assembler.

Usage: budgets.py WRITE_TEXTS, the program that writes the PTX. The kernels are straight-line code,
so the count is what a work-item executes; all row groups count together. Compares it with the
counts of `calpe devices --predict`, which have the PTX only. Prints a table.
Exits with 77 (skipped) and a reason if a tool is missing.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import wheels  # noqa: E402

ARCHITECTURE = "sm_90"
TOLERANCE = 0.05  # of the predicted counts of
PREDICTED = {"units_10_4_w8_word4_stride512", "sliced_10_4", "planes_16_16_word16",
             "planes_223_32_word4"}
# Instructions of the integer pipe, 64 lanes per cycle; IMAD uses another one.
ALU = set("LOP3 SHF PRMT IADD3 ISETP LEA SEL MOV IMNMX VIMNMX SGXT BMSK PLOP3 LOP IADD IABS VIADD "
          "I2I R2P P2R FSEL VIADDMNMX SHL SHR IADD32I".split())
SPILLS = {"LDL", "STL"}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def wheel_tool(name):
    """A tool from PATH, or from a wheel, in any directory of `nvidia`."""
    found = shutil.which(name) or wheels.find(f"nvidia/**/bin/{name}")
    if found:
        return found
    skip(f"{name} is not installed: .ci/install")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def opcodes(disassembly):
    """Opcodes without predicate and modifiers, and without the padding at the end."""
    for line in disassembly.splitlines():
        match = re.match(r"\s+/\*[0-9a-f]+\*/\s+(.*?);", line)
        if not match:
            continue
        words = re.sub(r"^@!?U?P\w+\s+", "", match.group(1).strip()).lstrip("{ ").split()
        opcode = words[0].split(".")[0]
        if opcode != "NOP":
            yield opcode


def main():
    write_texts = sys.argv[1]
    ptxas = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "ptxas")
    if not os.path.exists(ptxas):
        skip(f"{ptxas} does not exist: install the CUDA toolkit or set CUDA_HOME")
    nvdisasm = wheel_tool("nvdisasm")
    cuobjdump = wheel_tool("cuobjdump")
    over = []
    print(f"{ARCHITECTURE:38} ALU/B  budget  issue/B  predicted    registers  spills  code KB")
    with tempfile.TemporaryDirectory() as folder:
        for line in run(write_texts, folder).splitlines():
            name, data_bytes, budget, *predicted = line.split()
            data_bytes, budget = int(data_bytes), float(budget)
            predicted = [int(count) / data_bytes for count in predicted]
            cubin = os.path.join(folder, name + ".cubin")
            run(ptxas, f"-arch={ARCHITECTURE}", os.path.join(folder, name + ".ptx"), "-o", cubin)
            counts = collections.Counter(opcodes(run(nvdisasm, "-c", cubin)))
            usage = run(cuobjdump, "-res-usage", cubin)
            registers = [int(n) for n in re.findall(r"REG:(\d+)", usage)]
            stacks = [int(n) for n in re.findall(r"STACK:(\d+)", usage)]
            alu = sum(n for opcode, n in counts.items() if opcode in ALU) / data_bytes
            issued = sum(counts.values())
            spills = sum(counts[opcode] for opcode in SPILLS)
            if not registers or counts["LDG"] == 0:
                over.append(f"{name}: nothing was counted")
            if (budget and alu > budget) or spills or any(stacks):
                over.append(f"{name}: {alu:.2f} ALU instructions per byte; expected at most "
                            f"{budget}; {spills} spills, {max(stacks)} bytes of stack; expected 0")
            for what, count, machine in zip(("ALU", "all"), predicted,
                                            (alu, issued / data_bytes)):
                if name in PREDICTED and abs(machine - count) > TOLERANCE * machine:
                    over.append(f"{name}: {machine:.2f} {what} instructions per byte; predicted "
                                f"{count:.2f}")
            print(f"{name:38} {alu:5.2f}  {budget or '-':>6}  {issued / data_bytes:7.2f}  "
                  f"{predicted[0]:5.2f} {predicted[1]:5.2f}  {max(registers):9}  {spills:6}  "
                  f"{issued * 16 / 1024:7.1f}")
    for problem in over:
        print(problem)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
