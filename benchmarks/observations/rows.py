"""Rows of observations in Parquet: series of twenty periods, with an unknown code in one of a hundred rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.observations.structures import code_of

_PERIODS = 20
_BAD = 0.01
_BATCH = 250_000


def bad_share() -> float:
    """Return the share of rows with a wrong code."""
    return _BAD


def write_rows(path: Path, rows: int, sizes: Sequence[int], seed: int = 1) -> None:
    """Write rows of text columns ``D0`` and so on, TIME_PERIOD, OBS_STATUS and OBS_VALUE; no key is repeated."""
    dice = np.random.default_rng(seed)
    series = rows // _PERIODS
    columns: dict[str, np.ndarray[Any, Any]] = {}
    for place, size in enumerate(sizes):
        codes = np.array([code_of(number) for number in range(size)])
        columns[f"D{place}"] = np.repeat(codes[dice.integers(0, size, series)], _PERIODS)
    last = f"D{len(sizes) - 1}"
    columns[last] = np.where(dice.random(len(columns[last])) < _BAD, "NONE", columns[last])
    columns["TIME_PERIOD"] = np.tile(np.array([str(2000 + year) for year in range(_PERIODS)]), series)
    columns["OBS_STATUS"] = np.full(series * _PERIODS, code_of(1))
    columns["OBS_VALUE"] = np.char.mod("%.2f", dice.random(series * _PERIODS) * 100)
    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), path, row_group_size=_BATCH)
