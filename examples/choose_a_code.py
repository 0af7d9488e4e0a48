#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Which code for 20 TB disks?
# Compares codes by storage overhead, durability and encoding speed on this machine.
# Run `python3 examples/choose_a_code.py [chart.svg]`, or run it cell by cell in an editor that
# supports `# %%`. Needs NumPy and Matplotlib.

# %%
import sys
import time

import matplotlib.pyplot as plt
import numpy as np

import calpe

picture = sys.argv[1] if len(sys.argv) > 1 else "choose_a_code.svg"

# %% [markdown]
# ## Durability
# Replication is a code, too: 1+2 stores three copies. The disks have 20 TB, an annual failure rate
# of 1.5 % and one unreadable bit in 10^15.

# %%
CODES = ["1+1", "1+2", "4+2", "8+2", "6+3", "10+4", "17+3", "lrc:12+2+2", "16+4"]
DISKS = {"afr": 0.015, "capacity_bytes": 20e12, "read_errors_per_bit": 1e-15}

found = [calpe.durability(code, **DISKS) for code in CODES]
names = [f"{1 + int(d.code[2:])} copies" if d.code.startswith("1+") else d.code for d in found]
for name, one in zip(names, found):
    print(f"{name:12} stores {one.overhead:.2f} bytes per byte, {one.nines:5.1f} nines a year, "
          f"a rebuild reads {one.single_reads:.3g} shards and takes {one.rebuild_hours:.0f} h")

# %% [markdown]
# ## Encoding speed
# The rows of an array are the shards. Parity is written in place, and nothing is copied.


# %%
def encode_rate(spec, shard_bytes=1 << 16, seconds=0.2):
    """Returns bytes of data per second, on one thread, with data in the cache."""
    codec = calpe.Codec(spec)
    data = np.random.default_rng(1).integers(0, 256, (spec.data_shards, shard_bytes), np.uint8)
    parity = np.zeros((spec.parity_shards, shard_bytes), np.uint8)
    calls = 0
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds:
        codec.encode(data, parity)
        calls += 1
    return calls * data.nbytes / passed


SPECS = {
    "4+2": calpe.CodeSpec(4, 2),
    "10+4": calpe.CodeSpec(10, 4),
    "16+4": calpe.CodeSpec(16, 4),
    "lrc 12+2+2": calpe.CodeSpec(12, 4, profile="lrc", local_groups=2),
}
rates = {name: encode_rate(spec) / 1e9 for name, spec in SPECS.items()}
for name, rate in rates.items():
    print(f"{name:12} encodes {rate:.2f} GB/s")

# %% [markdown]
# ## Chart

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
left.scatter([d.overhead for d in found], [d.nines for d in found], color="tab:blue")
for name, one in zip(names, found):
    left.annotate(name, (one.overhead, one.nines), xytext=(5, 4), textcoords="offset points")
left.set_xlabel("overhead: bytes stored per byte")
left.set_ylabel("nines: -log10 of the chance to lose data in a year")
left.set_title("One group of 20 TB disks, 1.5 % fail in a year")
left.grid(alpha=0.3)
left.margins(x=0.2, y=0.1)
right.barh(list(rates), list(rates.values()), color="tab:orange")
right.set_xlabel("encode, GB of data a second, one thread")
right.set_title("shards of 64 KiB, in the cache")
plt.rcParams["svg.fonttype"] = "none"  # text stays text
figure.savefig(picture)
print(f"drawn: {picture}")
