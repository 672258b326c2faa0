"""Data files of every format, and the readers of the local engine."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from kafka_replica.data.jobs import Source, ValidationJob
from kafka_replica.data.jobs.stored_input import StoredInput
from kafka_replica.data.validation import Rules
from kafka_replica.errors import KafkaReplicaError
from support.datasets.every_format import FILES, STRUCTURE
from support.datasets.whole_input import whole_input
from support.rules.structures_by_hand import FLOW, FLOWS, rules_of, version_of

FORMATS: Final = {
    "data_csv": ("sdmx-csv", "SDMX-CSV"), "data_plain_csv": ("csv", "plain"), "data_parquet": ("parquet", "Parquet"),
    "data_arrow": ("arrow", "Arrow"), "data_ml": ("message", "SDMX-ML"), "data_json": ("message", "SDMX-JSON"),
    "data_edi": ("message", "SDMX-EDI"), "data_xlsx": ("xlsx", "workbook"),
}  # fmt: skip
"""The kind of source, and the beginning of the names of samples, by target."""


@cache
def data_samples(name: str) -> tuple[bytes, ...]:
    """Return the samples of a target."""
    return tuple(made() for sample, (_, made) in FILES.items() if sample.startswith(FORMATS[name][1]))


def feed_of(name: str) -> Callable[[bytes], None]:
    """Return what reads an input of a target; each row must have a location, and each error be one of the package."""
    kind = FORMATS[name][0]

    def feed(data: bytes) -> None:
        source = Source(kind, "-", stdin=StoredInput(io.BytesIO(data)))  # type: ignore[arg-type]
        with contextlib.suppress(KafkaReplicaError):
            rows, locations, others = whole_input(
                ValidationJob(sources=(source,), rules=rules_of_samples(), out=Path())
            )
            if rows.height + sum(others.values()) > locations.height:
                raise AssertionError(f"{rows.height} rows of {locations.height} locations")

    return feed


@cache
def rules_of_samples() -> Rules:
    """Return the rules of the samples."""
    return rules_of(version_of(STRUCTURE, FLOWS), FLOW)
