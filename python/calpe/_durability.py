# SPDX-License-Identifier: Apache-2.0
"""Probability of data loss, by the model of docs/durability.md."""
from __future__ import annotations

import dataclasses
from typing import Optional, Union

from . import _native
from ._codec import Codec
from ._codes import CodeSpec


@dataclasses.dataclass(frozen=True)
class LossProbability:
    """Probability of data loss by cause; `any` is the probability of at least one cause.

    `any` counts every stripe lost to read errors as a separate event, which is an upper bound.
    `any_clustered` counts all stripes lost in one rebuild as one event.
    """

    device: float
    read_error: float
    correlated: float
    any: float
    any_clustered: float


@dataclasses.dataclass(frozen=True)
class Durability:
    """Result of `durability`, for the whole system.

    - `year`: any one year in the long run; `mission`: the first years.
    - `nines`: -log10 of `year.any`.
    - `device_losses`, `lost_stripes`, `read_error_losses`, `correlated_losses`: expected number
      per year.
    - `lost_bytes`, `nomdl`: expected loss in the mission, in bytes and per usable byte.
    - `full_read`: probability that one full read of a group loses nothing.
    - `overhead`: stored bytes per usable byte.
    - `sure_losses`: number of devices of a group that may be lost in any combination.
    - `single_reads`, `rebuild_hours`: shards read and time needed to rebuild one device.
    - `bottleneck`: the resource that limits the rebuild.
    """

    code: str
    overhead: float
    sure_losses: int
    single_reads: float
    notes: tuple[str, ...]
    rebuild_hours: float
    bottleneck: str
    groups: float
    usable_bytes: float
    failures_per_year: float
    device_losses: float
    log10_device_losses: float
    lost_stripes: float
    read_error_losses: float
    correlated_losses: float
    year: LossProbability
    mission: LossProbability
    nines: float
    nomdl: float
    lost_bytes: float
    full_read: float


def durability(
    code: Union[str, CodeSpec, Codec],
    *,
    afr: Optional[float] = None,
    failures_per_year: Optional[float] = None,
    mttf_hours: Optional[float] = None,
    weibull: Optional[tuple[float, float]] = None,
    model: Optional[str] = None,
    devices: Optional[int] = None,
    pool_devices: Optional[int] = None,
    capacity_bytes: Optional[float] = None,
    fill: Optional[float] = None,
    read_errors_per_bit: Optional[float] = None,
    latent_errors_per_tb_year: Optional[float] = None,
    scrub_days: Optional[float] = None,
    shard_bytes: Optional[float] = None,
    read_bytes_per_s: Optional[float] = None,
    write_bytes_per_s: Optional[float] = None,
    rebuild_share: Optional[float] = None,
    network_bytes_per_s: Optional[float] = None,
    decode_bytes_per_s: Optional[float] = None,
    detect_hours: Optional[float] = None,
    replace_hours: Optional[float] = None,
    repair_hours: Optional[float] = None,
    is_repair_serial: Optional[bool] = None,
    shocks_per_year: Optional[float] = None,
    shock_hit: Optional[float] = None,
    batch_factor: Optional[float] = None,
    mission_years: Optional[float] = None,
) -> Durability:
    """Computes how likely a code loses data on given devices, like `calpe durability`.

    `code` is "10+4", "cauchy:10+4", "lrc:12+2+2" (k+local+global), a spec or a codec. Give the
    failure rate of a device as `afr`, the probability to fail within a year (default: 0.015), or
    as `failures_per_year`, `mttf_hours` or `weibull` (shape, hours). docs/durability.md explains
    the other arguments and their defaults.

    >>> found = durability("10+4", afr=0.015, capacity_bytes=20e12)
    >>> found.sure_losses, round(found.rebuild_hours, 1)
    (4, 86.6)
    >>> found.nines > durability("10+2", afr=0.015, capacity_bytes=20e12).nines
    True
    """
    given = {name: value for name, value in locals().items() if value is not None}
    del given["code"]
    lives = [name for name in ("afr", "failures_per_year", "mttf_hours", "weibull")
             if name in given]
    if len(lives) > 1:
        raise TypeError(f"{' and '.join(lives)} are given; expected one of them")
    if not lives:
        given["afr"] = 0.015
    found = _native.durability(_choice(code), given)
    found["year"] = LossProbability(**found["year"])
    found["mission"] = LossProbability(**found["mission"])
    return Durability(**found)


def _choice(code: Union[str, CodeSpec, Codec]) -> object:
    if isinstance(code, str):
        return code
    spec = code.spec if isinstance(code, Codec) else code
    return spec.profile, spec.data_shards, spec.parity_shards, spec.local_groups
