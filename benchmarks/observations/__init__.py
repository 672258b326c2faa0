"""Observations of eleven coded dimensions, with their structure and a map, for the experiments on data."""

from __future__ import annotations

from benchmarks.observations.rows import bad_share, write_rows
from benchmarks.observations.structures import MAP, SIZES, STRUCTURE, snapshot_of

__all__ = ["MAP", "SIZES", "STRUCTURE", "bad_share", "snapshot_of", "write_rows"]
