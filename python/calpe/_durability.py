# SPDX-License-Identifier: Apache-2.0
"""How likely data are lost: the model of docs/durability.md."""
from __future__ import annotations

import dataclasses
from typing import Optional, Union

from . import _native
from ._codec import Codec
from ._codes import CodeSpec


@dataclasses.dataclass(frozen=True)
class LossProbability:
    """By cause; `any` is of at least one of them.

    In `any` every stripe that read errors lose is an event of its own, an upper bound; in
    `any_clustered` those that one rebuild loses count as one.
    """

    device: float
    read_error: float
    correlated: float
    any: float
    any_clustered: float


@dataclasses.dataclass(frozen=True)
class Durability:
    """What `durability` found, of the whole system.

    `year` is any year in the long run, `mission` the first years; `nines` is -log10 of `year.any`.
    `device_losses`, `lost_stripes`, `read_error_losses` and `correlated_losses` are expected per
    year; `lost_bytes` and `nomdl` (the same per usable byte) in the mission. `full_read` is the
    chance that reading all of one group once loses nothing. `overhead` is stored over usable bytes;
    any `sure_losses` devices of a group may be lost; a rebuild of one reads `single_reads` shards
    and takes `rebuild_hours`, which `bottleneck` decides.
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
    """How likely a code loses data on given devices, as `calpe durability` says it.

    `code` is "10+4", "cauchy:10+4", "lrc:12+2+2" (k+local+global), a spec or a codec. Devices fail
    by `afr`, the probability to fail within a year (0.015 unless another is given), by
    `failures_per_year`, `mttf_hours` or `weibull` (shape, hours). Everything else has the default
    that docs/durability.md explains.

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
        raise TypeError(f"expected one of {' and '.join(lives)}, not both")
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
