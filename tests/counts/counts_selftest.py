#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one regression at a time and expects counts.py to name it.

Uses fake scripts for objdump, valgrind and cmake, so that results do not depend on a build or the
real baseline.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import kernel_loops  # noqa: E402
import loops  # noqa: E402

SYMBOL = ("void calpe::backend::cpu::matrix_pass<calpe::backend::cpu::(anonymous namespace)::"
          "Avx512Gfni, 2ul, false, (calpe::backend::cpu::Write)0>"
          "(calpe::backend::cpu::MatrixPart const&, std::byte const* const*, std::byte* const*, "
          "unsigned long, unsigned long)")
NAME = "avx512-gfni products[2] over"

# Two inputs times two rows in the inner loop, two stores in the enclosing column. The end of the
# inner loop (label `far`) is after the function's ret, as compilers often place it.
LISTING = """
       push   %rbp
       mov    %rsp,%rbp
column: vmovdqu64 (%rdi),%zmm0
inner: vmovdqu64 (%rdi,%rcx,1),%zmm1
       vmovdqu64 0x40(%rdi,%rcx,1),%zmm2
       vgf2p8affineqb $0x0,(%rsi){1to8},%zmm1,%zmm3
       vgf2p8affineqb $0x0,0x8(%rsi){1to8},%zmm2,%zmm4
       vgf2p8affineqb $0x0,0x10(%rsi){1to8},%zmm1,%zmm5
       vgf2p8affineqb $0x0,0x18(%rsi){1to8},%zmm2,%zmm6
       vpternlogq $0x96,%zmm3,%zmm4,%zmm8
       vpternlogq $0x96,%zmm5,%zmm6,%zmm9
       jmp    @far
after: vmovdqu64 %zmm8,(%rdx)
       vmovdqu64 %zmm9,(%r9)
       cmp    %rax,%rbx
       jne    @column
       ret
far:   add    $0x1,%rcx
       cmp    %rcx,%r8
       jne    @inner
       jmp    @after
"""
SPILL = "       vmovdqa64 %zmm9,-0x40(%rbp)\n"


def objdump_text(listing, symbol=SYMBOL):
    rows, labels = [], {}
    for number, line in enumerate(listing.strip("\n").splitlines()):
        label, _, code = line.partition(": ") if ": " in line[:8] else ("", "", line)
        labels[label.strip()] = 16 * (number + 1)
        rows.append((16 * (number + 1), code.strip()))
    text = f"0000000000000010 <{symbol}>:\n"
    for address, code in rows:
        name, _, label = code.partition("@")
        if label:
            code = f"{name}{labels[label]:x} <{symbol}+{labels[label] - 16:#x}>"
        text += f"  {address:x}:\t{code}\n"
    return text


def planted(after, line):
    return LISTING.replace(after, after + line, 1)


LAST_XOR = "       vpternlogq $0x96,%zmm5,%zmm6,%zmm9\n"


class LoopsTest(unittest.TestCase):
    def counts(self, listing):
        return kernel_loops.count_functions(loops.parse(objdump_text(listing)), "avx512-gfni")

    def test_counts_per_64_bytes(self):
        # 4 products of 2 rows: 2 vectors of input. 12 instructions, 3 of them after the ret.
        self.assertEqual(self.counts(LISTING)[NAME], {
            "instructions": 6.0, "products": 2.0, "xors": 1.0, "loads": 3.0, "stores": 0.0,
            "spills": 0.0, "column": 18, "column_spills": 0})

    def test_spill_in_loop(self):
        counts = self.counts(planted(LAST_XOR, SPILL))[NAME]
        self.assertEqual((counts["spills"], counts["column_spills"]), (0.5, 1))

    def test_spill_in_column_only(self):
        counts = self.counts(LISTING.replace("after: ", "after: vmovdqa64 %zmm9,(%rsp)\n       "))
        self.assertEqual((counts[NAME]["spills"], counts[NAME]["column_spills"]), (0.0, 1))

    def test_rbp_without_frame_is_no_stack(self):
        listing = planted(LAST_XOR, SPILL).replace("mov    %rsp,%rbp", "mov    %rax,%rbp")
        counts = self.counts(listing)[NAME]
        self.assertEqual((counts["spills"], counts["stores"]), (0.0, 0.5))

    def test_no_loop_no_kernel(self):
        self.assertEqual(self.counts("       vpxorq %zmm0,%zmm0,%zmm0\n       ret\n"), {})


# Only shell built-ins: PATH contains nothing but these scripts.
FAKE_OBJDUMP = """#!/bin/sh
while read -r line; do printf '%s\\n' "$line"; done < '{listing}'
"""
FAKE_VALGRIND = """#!/bin/sh
for argument; do
  case $argument in
    --callgrind-out-file=*) out=${{argument#*=}} ;;
    cpu:{absent}) echo 'this CPU has no such thing' >&2; exit 3 ;;
  esac
done
printf 'desc: Trigger: Client Request: encode\\ntotals: {total}\\n' > "$out.1"
printf 'encode\\tcall\\t2\\n'
"""


class CountsTest(unittest.TestCase):
    """Runs counts.py like ctest."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "tests" / "counts").mkdir(parents=True)
        self.baseline = self.folder / "baseline.json"
        self.describe()
        self.script("cmake", "#!/bin/sh\nexit 0\n")
        self.objdump(objdump_text(LISTING))
        self.valgrind(2000)
        done = self.run_counts("--update")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def describe(self, **changed):
        build = {"folder": str(self.folder), "compiler": "GNU 12 x86_64", "flags": "-O2",
                 "program": "counted_work",
                 "objects": [str(self.folder / "kernels_avx512_gfni.cpp.o")], **changed}
        (self.folder / "tests" / "counts" / "build.json").write_text(json.dumps(build))

    def script(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def objdump(self, text):
        (self.folder / "listing").write_text(text)
        self.script("objdump", FAKE_OBJDUMP.format(listing=self.folder / "listing"))

    def valgrind(self, total, absent="none"):
        self.script("valgrind", FAKE_VALGRIND.format(total=total, absent=absent))

    def run_counts(self, *arguments):
        return subprocess.run(
            [sys.executable, "-B", str(HERE / "counts.py"), "--build", str(self.folder),
             "--baseline", str(self.baseline), *arguments],
            capture_output=True, text=True, env={**os.environ, "PATH": str(self.folder / "bin")})

    def expect(self, code, *words, arguments=()):
        done = self.run_counts(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)
        return done.stdout

    def test_same(self):
        out = self.expect(0, "avx2 encode, per call", NAME, "same")
        self.assertNotIn("WORSE", out)
        self.assertNotIn("better", out)

    def test_update_changes_nothing_by_itself(self):
        before = self.baseline.read_text()
        self.expect(0, arguments=["--update"])
        self.assertEqual(self.baseline.read_text(), before)

    def test_planted_spill(self):
        self.objdump(objdump_text(planted(LAST_XOR, SPILL)))
        self.expect(1, "WORSE", f"{NAME}: spills 0 -> 0.5 (from 0)", "--update")

    def test_planted_instruction(self):
        self.objdump(objdump_text(planted(LAST_XOR, "       mov    %rax,%rbx\n")))
        self.expect(1, f"{NAME}: instructions 6 -> 6.5 (+8.3%)")
        self.expect(0, arguments=["--part", "calls"])

    def test_accepted_by_update(self):
        self.objdump(objdump_text(planted(LAST_XOR, SPILL)))
        self.expect(0, arguments=["--update"])
        self.expect(0)

    def test_call_slower(self):
        self.valgrind(2080)
        self.expect(1, "scalar encode, per call: instructions 1000 -> 1040 (+4.0%)", "--update")
        self.expect(0, arguments=["--part", "loops"])

    def test_call_within_tolerance(self):
        self.valgrind(2040)
        self.assertNotIn("WORSE", self.expect(0, "+2.0%"))

    def test_call_faster(self):
        self.valgrind(1800)
        self.assertNotIn("WORSE", self.expect(0, "better", "1000 -> 900 (-10.0%)"))

    def test_counted_nothing(self):
        self.valgrind(0)
        self.expect(1, "counted nothing")

    def test_kernel_gone_and_new(self):
        self.objdump(objdump_text(LISTING, SYMBOL.replace("2ul", "1ul")))
        self.expect(1, "GONE", NAME, "not in the baseline", "products[1] over")

    def test_path_absent(self):
        self.valgrind(2000, absent="avx2")
        self.assertNotIn("GONE", self.expect(0, "avx2 is not compared"))
        before = self.baseline.read_text()
        self.expect(0, arguments=["--update"])
        self.assertEqual(self.baseline.read_text(), before)

    def test_other_compiler_is_skipped(self):
        self.describe(compiler="Clang 14 x86_64")
        self.expect(77, "skipped", "GNU 12", "Clang 14")
        self.expect(77, "skipped", arguments=["--update"])

    def test_other_flags_are_skipped(self):
        self.describe(flags="-O3")
        self.expect(77, "skipped", "-O3")

    def test_no_tool_is_skipped(self):
        (self.folder / "bin" / "valgrind").unlink()
        self.expect(77, "valgrind is not installed", arguments=["--part", "calls"])
        self.expect(0, arguments=["--part", "loops"])
        (self.folder / "bin" / "objdump").unlink()
        self.expect(77, "objdump is not installed", arguments=["--part", "loops"])


if __name__ == "__main__":
    unittest.main()
