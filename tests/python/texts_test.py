# SPDX-License-Identifier: Apache-2.0
"""Compares equations and durability with the command in CALPE_COMMAND."""
import json
import math
import os
import re
import subprocess

import calpe
import pytest
from stripes import randoms


def command(*arguments):
    return subprocess.run([os.environ["CALPE_COMMAND"], *arguments], check=True, text=True,
                          capture_output=True).stdout


def without_comments(text):
    return re.sub(r"#.*\n", "", text)


@pytest.mark.parametrize("style", ["direct", "iterative", "optimised"])
@pytest.mark.parametrize("lost", [[], [0, 3]])
def test_equations_match_the_command(style, lost):
    codec = calpe.Codec(5, 2, profile="cauchy", layout="packets", word_bits=3)
    plan = None
    if lost:
        plan = codec.plan_decode([i for i in range(7) if i not in lost], lost)
    said = command("equations", "--data", "5", "--parity", "2", "--word-bits", "3", "--style",
                   style, *(["--lose", ",".join(map(str, lost))] if lost else []))
    assert codec.equations(plan, style=style) == without_comments(said)


def test_equations_match_the_codec():
    """Evaluates the text over packets of one byte."""
    codec = calpe.Codec(4, 3, profile="cauchy", layout="packets", packet_bytes=1)
    data = [randoms("equations").randbytes(8) for _ in range(4)]
    units = dict(enumerate(b"".join(data)))
    values = {f"u{i}": value for i, value in units.items()}
    for line in codec.equations(style="optimised", budget="fast").splitlines():
        left, terms = re.fullmatch(r"(\w+) = XOR\((.*)\)", line).groups()
        values[left] = 0
        for term in terms.split(","):
            values[left] ^= values[term]
    parity = b"".join(bytes(shard) for shard in codec.encode(data))
    assert bytes(values[f"u{32 + i}"] for i in range(24)) == parity


@pytest.mark.parametrize("target, sign", [
    ("c", "void my_code("), ("openmp", "#pragma omp"), ("opencl", "__kernel"),
    ("cuda", "__global__"), ("ptx", ".entry"), ("hip", "hip_runtime.h")])
def test_programs_are_emitted(target, sign):
    assert sign in calpe.Codec(4, 2).equations(target=target, name="my_code")


@pytest.mark.parametrize("code, asked, options", [
    ("10+4", {}, []),
    ("8+2", {"afr": 0.03, "capacity_bytes": 4e12}, ["--afr", "3%", "--capacity", "4T"]),
    ("17+3", {"mttf_hours": 1.2e6, "repair_hours": 24, "is_repair_serial": True},
     ["--mttf-hours", "1.2e6", "--repair-hours", "24", "--serial-repair"]),
    ("lrc:12+2+2", {"failures_per_year": 0.02, "devices": 1600, "pool_devices": 80},
     ["--failures-per-year", "0.02", "--devices", "1600", "--pool", "80"]),
    ("6+3", {"weibull": (1.12, 87600), "shocks_per_year": 0.1, "shock_hit": 0.3},
     ["--weibull", "1.12,87600", "--shocks-per-year", "0.1", "--shock-hit", "30%"]),
    ("10+4", {"model": "window", "fill": 0.5, "mission_years": 10, "batch_factor": 2},
     ["--model", "window", "--fill", "50%", "--mission-years", "10", "--batch-factor", "2"]),
    ("10+4", {"read_errors_per_bit": 1e-14, "latent_errors_per_tb_year": 3, "scrub_days": 7,
              "shard_bytes": 65536},
     ["--read-errors", "1e-14", "--latent-errors", "3", "--scrub-days", "7", "--shard-bytes",
      "64Ki"]),
    ("10+4", {"read_bytes_per_s": 1e8, "write_bytes_per_s": 5e7, "rebuild_share": 0.5,
              "network_bytes_per_s": 1e9, "decode_bytes_per_s": 1e9, "detect_hours": 1,
              "replace_hours": 0},
     ["--read-rate", "100M", "--write-rate", "50M", "--rebuild-share", "50%", "--network-rate",
      "1G", "--decode-rate", "1G", "--detect-hours", "1", "--replace-hours", "0"]),
])
def test_durability_matches_the_command(code, asked, options):
    found = calpe.durability(code, **asked)
    said = json.loads(command("durability", "--json", "--compare", code, *options))["rows"][0]
    for cause in ("device", "read_error", "correlated", "any", "any_clustered"):
        assert math.isclose(getattr(found.year, cause), said["year"][cause], rel_tol=1e-9), cause
        assert math.isclose(getattr(found.mission, cause), said["mission"][cause],
                            rel_tol=1e-9), cause
    for name in ("nines", "nomdl", "lost_bytes", "groups", "usable_bytes"):
        assert math.isclose(getattr(found, name), said[name], rel_tol=1e-9), name
    assert math.isclose(found.rebuild_hours, said["rebuild"]["hours"], rel_tol=1e-9)
    assert (found.code, found.bottleneck) == (said["code"]["name"], said["rebuild"]["bottleneck"])


def test_durability_takes_specs_and_codecs():
    text = calpe.durability("lrc:12+2+2")
    spec = calpe.CodeSpec(12, 4, profile="lrc", local_groups=2)
    assert calpe.durability(spec) == calpe.durability(calpe.Codec(spec)) == text
    assert text.code == "lrc 12+2+2" and text.sure_losses == 3 and text.single_reads < 12
    with pytest.raises(calpe.UnprovenError):
        calpe.durability("vandermonde-isal:10+5")
