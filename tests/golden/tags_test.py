#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes the golden tags with a second implementation: tags_test.py DIR [--write]

--write adds what is missing; released tags never change. Run by ctest without it.
"""
import json
import pathlib
import sys

import reference_tags
from vectors_test import data_shard

LENGTHS = (0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 959, 960, 961, 1024, 4096, 30719, 30720, 30721,
           30784, 65536)


def wanted():
    for size in LENGTHS:
        yield {"polynomial": 0x11D, "shard": 0, "shard_bytes": size}
    for polynomial in reference_tags.CONSTANTS:
        yield {"polynomial": polynomial, "shard": 1, "shard_bytes": 1000}


def with_tag(case):
    shard = data_shard(case["shard"], case["shard_bytes"])
    return {**case, "tag": reference_tags.tag(shard, case["polynomial"]).hex()}


def main():
    path = pathlib.Path(sys.argv[1]) / "tags.json"
    cases = [with_tag(case) for case in wanted()]
    if "--write" in sys.argv:
        lines = ",\n".join("    " + json.dumps(case) for case in cases)
        path.write_text('{\n  "tags": [\n' + lines + "\n  ]\n}\n")
    stored = json.loads(path.read_text())["tags"]
    wrong = [case for case in stored if with_tag(case) != case]
    print(wrong or f"tags: {len(stored)} recomputed")
    return 1 if wrong or len(stored) < len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
