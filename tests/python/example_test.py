# SPDX-License-Identifier: Apache-2.0
"""Runs the example script cell by cell and checks its chart."""
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/choose_a_code.py"


def test_example_draws_its_chart(tmp_path):
    environment = dict(os.environ, MPLBACKEND="Agg", MPLCONFIGDIR=str(tmp_path))
    result = subprocess.run([sys.executable, "-B", EXAMPLE, tmp_path / "choice.svg"], text=True,
                            capture_output=True, env=environment)
    assert result.returncode == 0, result.stderr
    tree = xml.etree.ElementTree.parse(tmp_path / "choice.svg")
    text = "".join(tree.getroot().itertext())
    for name in ("3 copies", "10+4", "lrc 12+2+2", "overhead"):
        assert name in text, name
    rates = re.findall(r"(\d+\.\d+) GB/s", result.stdout)
    assert len(rates) >= 3 and all(float(rate) > 0 for rate in rates), result.stdout


def test_example_has_cells():
    assert EXAMPLE.read_text().count("\n# %%") >= 4
