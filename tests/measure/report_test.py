#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `calpe bench` briefly and `calpe report` on the result. Checks that the page needs no
network, that each chart has axes, a legend and data, and that impossible rates are refused.

usage: report_test.py REPOSITORY CALPE
Does not judge speed. With CALPE_NIGHTLY=1 it also checks that `calpe bench --quick` takes at most
90 seconds of CPU time, which does not depend on other load.
"""
import copy
import ctypes
import html.parser
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

if len(sys.argv) < 3:
    sys.exit(__doc__)
CALPE = sys.argv.pop(2)
ROOT = pathlib.Path(sys.argv.pop(1))
SVG = "{http://www.w3.org/2000/svg}"
QUICK_SECONDS = 90
RUN_SECONDS = (0.3, 1, 4, 12, 30)  # a disturbed run is repeated with more rounds
SECTIONS = {"over_k", "over_bytes", "cold", "packets", "profiles", "threads", "latency", "xors",
            "emitted", "devices", "phases", "energy", "predictions", "excess", "bank_conflicts"}
# Each chart and the labels of its axes.
PICTURES = {
    "over_k_encode_m2": ("data shards, k", "GB/s of data"),
    "over_k_encode_m3": ("data shards, k", "GB/s of data"),
    "over_k_encode_m4": ("data shards, k", "GB/s of data"),
    "over_bytes_10_2": ("shard length", "GB/s of data"),
    "roofline": ("products per byte moved", "products"),
    "latency": ("microseconds per call", "part of calls"),
    "threads": ("threads", "GB/s of data"),
    "profiles": ("shape", "GB/s of data"),
    "packets": ("packet length", "GB/s of data"),
    "xors": ("code", "XORs"),
    "devices": ("backend", "GB/s of data"),
    "phases": ("phase", "seconds"),
    "predictions": ("shape", "GB/s of data"),
    "excess_1": ("data shards, k", "link - kernel"),
    "excess_2": ("data shards, k", "link - kernel"),
}


def run(*arguments, **options):
    return subprocess.run([CALPE, *arguments], capture_output=True, text=True, timeout=900,
                          **options)


def installed_peers():
    peers = []
    for name, soname in (("isal", "libisal.so.2"), ("jerasure", "libJerasure.so.2")):
        try:
            ctypes.CDLL(soname)
            peers += ["--peer", name]
        except OSError:
            print(f"report_test: {soname} is not installed; skipping peer {name}")
    return peers


class References(html.parser.HTMLParser):
    """Collects everything that a browser would fetch or run."""

    def __init__(self):
        super().__init__()
        self.found = []
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found += [value for name, value in attrs if name in ("href", "src", "xlink:href")]


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.run_file = cls.folder / "run.json"
        # An empty cache, so that the phases compile.
        environment = {**os.environ, "CALPE_CACHE_DIR": str(cls.folder / "cache")}
        cls.report = cls.folder / "report"
        # With few rounds on a busy machine the memory limit may come out too low, and the report
        # refuses the run. Repeat in this case only.
        for seconds in RUN_SECONDS:
            started = time.monotonic()
            done = run("bench", "--quick", "--seconds", str(seconds), *installed_peers(),
                       "--devices", "all", "--quiet", "-o", str(cls.run_file), env=environment)
            if done.returncode != 0:
                raise AssertionError(f"bench: exit {done.returncode}: {done.stderr}")
            print(f"report_test: bench took {time.monotonic() - started:.1f} s")
            done = run("report", str(cls.run_file), "-o", str(cls.report))
            if done.returncode != 1 or "above the memory limit" not in done.stderr:
                break
            print(f"report_test: run was disturbed, repeating: {done.stderr}")
        if done.returncode != 0:
            raise AssertionError(f"report: exit {done.returncode}: {done.stderr}")
        cls.bench = json.loads(cls.run_file.read_text())
        cls.said = done.stdout
        cls.page = (cls.report / "index.html").read_text()

    def refusal(self, change, name="changed.json"):
        """Exit code and errors of report for the run after `change`."""
        changed = copy.deepcopy(self.bench)
        change(changed)
        path = self.folder / name
        path.write_text(json.dumps(changed))
        target = self.folder / (name + ".report")
        done = run("report", str(path), "-o", str(target))
        if done.returncode != 0:
            self.assertFalse(target.exists(), "a refused run must not write a page")
        return done.returncode, done.stderr

    def test_all_sections_exist_and_all_rates_have_bytes(self):
        self.assertEqual(set(self.bench["sections"]), SECTIONS)
        rows = list(self.bench["rows"])
        for name in ("over_k", "over_bytes", "cold", "packets", "profiles", "threads"):
            section = self.bench["sections"][name]["rows"]
            self.assertTrue(section, name)
            rows += section
        for row in rows:
            if row["operation"] == "plan":
                continue
            self.assertTrue(row["bytes_counted"], row)
            self.assertAlmostEqual(row["bytes"] / row["seconds"] / 1e9 / row["gb_per_s"], 1,
                                   delta=1e-3)
            self.assertLessEqual(row["seconds"], row["seconds_p10"])
            self.assertLessEqual(row["seconds_p10"], row["seconds_p90"])

    def test_devices_in_three_ways_and_by_phase(self):
        rows = self.bench["sections"]["devices"]["rows"]
        ways = {(row["device"], row.get("way")) for row in rows}
        self.assertIn(("cpu", "host memory"), ways)
        opencl = {way for device, way in ways if device.startswith("opencl")}
        if opencl:
            self.assertEqual(opencl, {"host memory", "device memory", "transfers alone"})
        else:
            print("report_test: no OpenCL device; the three ways were not measured")
        for row in self.bench["sections"]["phases"]["rows"]:
            for phase in ("platform", "buffers", "compile", "transfer_in", "kernel",
                          "transfer_out"):
                self.assertGreaterEqual(row[f"{phase}_seconds"], 0, row)

    def test_latencies_are_ordered(self):
        for row in self.bench["sections"]["latency"]["rows"]:
            self.assertLessEqual(row["best_us"], row["p50_us"])
            self.assertLessEqual(row["p50_us"], row["p99_us"])
            self.assertLessEqual(row["p99_us"], row["worst_us"])
            fractions = [fraction for _, fraction in row["cdf"]]
            times = [micros for micros, _ in row["cdf"]]
            self.assertEqual(fractions, sorted(fractions))
            self.assertEqual(times, sorted(times))

    def test_published_counts(self):
        rows = {row["code"]: row for row in self.bench["sections"]["xors"]["rows"]}
        row = rows["cauchy 5+2, w=3"]
        self.assertEqual(row["direct"], 45)
        self.assertLessEqual(row["iterative"], 33)
        for row in rows.values():
            self.assertLessEqual(row["optimised"], row["iterative"])
            self.assertLess(row["iterative"], row["direct"])
        for row in self.bench["sections"]["bank_conflicts"]["rows"]:
            self.assertAlmostEqual(row["simulated"], row["published"], delta=0.015)

    def test_predictions_are_marked(self):
        for name in ("predictions", "excess"):
            section = self.bench["sections"][name]
            self.assertIs(section["predicted"], True)
            for gpu in section["gpus"]:
                self.assertIs(gpu["predicted"], True)
                self.assertTrue(gpu["formula"])

    def test_energy_is_measured_or_listed_as_not_measured(self):
        energy = self.bench["sections"]["energy"]
        if "joules_per_gb" in energy:
            self.assertGreater(energy["joules_per_gb"], 0)
        else:
            self.assertEqual(energy["status"], "not measured")
            self.assertTrue(energy["reason"])
            self.assertIn("Energy per GB: not measured", self.page)

    def test_page_is_self_contained(self):
        self.assertNotIn("://", self.page)
        self.assertNotIn("url(", self.page)
        self.assertNotIn("@import", self.page)
        references = References()
        references.feed(self.page)
        self.assertEqual(references.found, [])
        for tag in ("script", "link", "img", "iframe", "object"):
            self.assertNotIn(tag, references.tags)
        self.assertEqual(references.tags.count("svg"), len(list(self.report.glob("*.svg"))))

    def test_summary(self):
        self.assertRegex(self.said, r"(?m)^Use cpu:\S+\.")
        for shape in ("4+2", "10+4", "20+10"):
            self.assertRegex(self.said,
                             rf"(?m)^{re.escape(shape)}, shards of \S+ \S+: encodes at \d")
        self.assertIn("What to use here", self.page)

    def test_charts(self):
        wanted = dict(PICTURES)
        if self.bench["sections"]["emitted"].get("rows"):
            wanted["emitted"] = ("unit length", "GB/s of data")
        found = {path.stem: path for path in self.report.glob("*.svg")}
        self.assertEqual(set(found), set(wanted))
        for name, labels in wanted.items():
            with self.subTest(name):
                self.check_picture(ElementTree.parse(found[name]).getroot(), labels)

    def check_picture(self, root, labels):
        def texts(kind):
            return ["".join(e.itertext()) for e in root.iter(SVG + "text")
                    if e.get("class") == kind]

        axes = texts("axis")
        self.assertEqual(len(axes), 2)
        self.assertIn(labels[0], axes[0])
        self.assertIn(labels[1], axes[1])
        self.assertGreaterEqual(len(texts("x-tick")), 2, "ticks of x")
        self.assertGreaterEqual(len(texts("y-tick")), 2, "ticks of y")
        legend = texts("label") + texts("key")
        drawn = [e for e in root.iter(SVG + "g") if e.get("class") == "series"]
        self.assertTrue(drawn)
        for series in drawn:
            name = series.findtext(SVG + "title")
            self.assertIn(name, legend)
            marks = [e for e in series if e.get("class") in ("mark", "line")]
            self.assertTrue(marks, f"{name} has no data")
        _, _, width, height = map(float, root.get("viewBox").split())
        for element in root.iter():
            for keys, limit in ((("x", "x1", "x2", "cx"), width),
                                (("y", "y1", "y2", "cy"), height)):
                for key in keys:
                    self.assertTrue(0 <= float(element.get(key, 0)) <= limit, element.attrib)

    def test_predictions_are_hollow(self):
        root = ElementTree.parse(self.report / "predictions.svg").getroot()
        for series in root.iter(SVG + "g"):
            if series.get("class") != "series":
                continue
            name = series.findtext(SVG + "title")
            fills = {e.get("fill") for e in series if e.get("class") == "mark"}
            self.assertEqual(fills == {"none"}, "predicted" in name, name)

    def test_an_impossible_rate_is_refused(self):
        def faster_than_memory(changed):
            row = next(r for r in changed["rows"] if r["operation"] == "encode")
            row["gb_per_s"] = 1.2 * row["roof_gb_per_s"]
            row["seconds"] = row["bytes"] / row["gb_per_s"] / 1e9

        code, said = self.refusal(faster_than_memory)
        self.assertEqual(code, 1)
        self.assertIn("above the memory limit", said)
        self.assertIn("encode 4+2 4 KiB", said)

    def test_an_impossible_rate_in_a_section_is_refused(self):
        def faster_peer(changed):
            row = changed["sections"]["over_k"]["rows"][2]
            row["gb_per_s_other"] = 2 * row["roof_gb_per_s"]
            row["seconds_other"] = row["bytes"] / row["gb_per_s_other"] / 1e9

        code, said = self.refusal(faster_peer)
        self.assertEqual(code, 1)
        self.assertIn("over_k", said)
        self.assertIn("gb_per_s_other", said)

    def test_an_inconsistent_rate_is_refused(self):
        def invented(changed):
            row = changed["sections"]["over_bytes"]["rows"][0]
            row["gb_per_s"] *= 0.9

        code, said = self.refusal(invented)
        self.assertEqual(code, 1)
        self.assertIn("its bytes over its seconds", said)
        self.assertIn("over_bytes", said)

        def without(changed):
            del changed["sections"]["devices"]["rows"][0]["seconds"]

        code, said = self.refusal(without)
        self.assertEqual(code, 1)
        self.assertIn("without seconds", said)

    def test_unreadable_input(self):
        for content, word in (("", "not JSON"), ("[1]", "no machine"),
                              ("{\"a\": 1}", "no machine")):
            path = self.folder / "broken.json"
            path.write_text(content)
            done = run("report", str(path), "-o", str(self.folder / "none"))
            self.assertEqual(done.returncode, 3)
            self.assertIn(word, done.stderr)
        done = run("report", str(self.folder / "nowhere.json"))
        self.assertEqual(done.returncode, 4)
        self.assertIn("nowhere.json", done.stderr)
        done = run("bench", "--section", "no-such", "--rounds", "1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no-such", done.stderr)
        done = run("bench", "--devices", "no-such", "--rounds", "1", "--json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no-such", done.stderr)

    def test_readme_figures_match_the_stored_run(self):
        script = ROOT / "bench" / "readme_figures.py"
        done = subprocess.run([sys.executable, "-B", str(script), "--check"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for result in sorted((ROOT / "bench" / "results").glob("*.json")):
            if result.name == "files.json":  # of bench/files.py, not of calpe bench
                continue
            done = run("report", str(result), "-o", str(self.folder / "kept"), "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(os.environ.get("CALPE_NIGHTLY"), "takes 90 s; set CALPE_NIGHTLY=1")
    def test_quick_takes_less_than_90_seconds(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run("bench", "--quick", *installed_peers(), "--devices", "all", "--quiet", "-o",
                   str(self.folder / "quick.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"report_test: --quick took {seconds:.1f} s of CPU time")
        # Parts use two threads, so this also bounds the wall time on two idle cores.
        self.assertLess(seconds, QUICK_SECONDS)


if __name__ == "__main__":
    unittest.main()
