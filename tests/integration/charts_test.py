#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The charts of `calpe reram` are valid XML, and their labels are inside the chart and do not
overlap. Usage: charts_test.py <calpe_unit_tools>"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
WRITER = "ReramPlots.creates_a_missing_directory"
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else sys.exit(__doc__)


class Charts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        subprocess.run([PROGRAM, f"--gtest_filter={WRITER}"], check=True, timeout=60,
                       stdout=subprocess.DEVNULL,
                       env={**os.environ, "CALPE_TEST_CHARTS": cls.folder.name})
        paths = sorted(pathlib.Path(cls.folder.name).iterdir())
        cls.roots = {path.name: ElementTree.parse(path).getroot() for path in paths}

    def test_three_charts(self):
        self.assertEqual(list(self.roots), ["errors.svg", "throughput.svg", "wear.svg"])
        for name, root in self.roots.items():
            self.assertEqual(root.tag, SVG + "svg", name)
            self.assertTrue(root.findtext(SVG + "title"), name)

    def test_texts_are_escaped_correctly(self):
        texts = "".join(self.roots["throughput.svg"].itertext())
        self.assertIn("cpu <avx2> & one thread", texts)
        self.assertIn("calibrated, not measured", texts)

    def test_all_elements_are_inside_the_chart(self):
        for name, root in self.roots.items():
            _, _, width, height = map(float, root.get("viewBox").split())
            for element in root.iter():
                for keys, limit in ((("x", "x1", "x2", "cx"), width),
                                    (("y", "y1", "y2", "cy"), height)):
                    for key in keys:
                        value = float(element.get(key, 0))
                        self.assertTrue(0 <= value <= limit, f"{name}: {element.attrib}")

    def test_labels_do_not_overlap(self):
        for name, root in self.roots.items():
            for kind in ("label", "y-tick", "note"):
                texts = [e for e in root.iter(SVG + "text") if e.get("class") == kind]
                self.assertTrue(texts, f"{name}: {kind}")
                places = sorted(float(e.get("y")) for e in texts)
                size = float(texts[0].get("font-size"))
                for above, below in zip(places, places[1:]):
                    self.assertGreaterEqual(below - above, size, f"{name}: {kind}")


if __name__ == "__main__":
    unittest.main()
