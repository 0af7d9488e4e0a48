# SPDX-License-Identifier: Apache-2.0
"""Rebuilds lost shards in Python, with the standard library only."""
import sys

import calpe

codec = calpe.Codec(10, 4)
data = [bytes([65 + i]) * 100_003 for i in range(10)]
shards = dict(enumerate([*data, *codec.encode(data)]))
for lost in (0, 3, 7, 12):
    del shards[lost]
plan = codec.plan_decode(shards, wanted=[0, 3, 7])
if codec.decode(plan, shards) != [data[0], data[3], data[7]] or "numpy" in sys.modules:
    sys.exit("wrong bytes, or NumPy is needed")
print(f"calpe {calpe.__version__}: rebuilt 3 of 3 from {len(plan.reads)} of {len(shards)} shards, "
      f"{codec.backend}, {calpe.durability('10+4').nines:.1f} nines")
