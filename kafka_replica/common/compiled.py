"""The compiled parser of record batches, where it exists: ``_records.c`` as the module ``_records``.

It is optional. ``hatch_build.py`` compiles it into an environment made from a checkout, if there is a C compiler; a
wheel contains it only if that was requested. Without it the same is done in Python, with the same results. The
environment variable ``KAFKA_REPLICA_COMPILED`` decides, when something is built and when it runs: ``0`` never uses it,
``1`` requires it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, Protocol, cast

from kafka_replica.errors import ConfigurationError

VARIABLE: Final = "KAFKA_REPLICA_COMPILED"
_NAME: Final = "kafka_replica.common._records"
_INTERFACE: Final = 1  # as in _records.c


class CompiledParser(Protocol):
    """The functions of the module ``_records``."""

    INTERFACE: int

    def parse(
        self,
        batch: bytes | memoryview,
        decompressed: bytes | None,
        from_offset: int,
        record_type: type[tuple[Any, ...]],
        source: object,
        /,
    ) -> list[Any]:
        """Return the records of a batch, from an offset on.

        Args:
            batch: the batch with its head.
            decompressed: the batch without its head, decompressed; None if the batch is not compressed.
            from_offset: records below it are left out.
            record_type: the type of the records, a tuple of key, value, offset, timestamp, headers and source.
            source: the last item of each record.

        Raises:
            ValueError: the batch is damaged.
        """

    def add(self, changes: dict[Any, Any], records: Sequence[tuple[Any, ...]], /) -> int:
        """Put records into a dict by their keys, the first items; return how many have no value, the second item."""

    def untrack(self, records: dict[Any, Any], /) -> None:
        """Hide a dict of plain records from the garbage collector, until something is put into it.

        Otherwise each full collection visits all of its records, for nothing: plain values cannot form a cycle.
        """


def _load(wanted: str | None) -> CompiledParser | None:
    """Return the compiled parser, or None where it is not used.

    Raises:
        ConfigurationError: it is required, and cannot be used.
    """
    if wanted == "0":
        return None
    try:
        return _imported()
    except ImportError as error:
        if wanted != "1":
            return None
        raise ConfigurationError(
            f"{VARIABLE}=1 requires the compiled parser of record batches, which cannot be used: {error}; build it "
            f"with {VARIABLE}=1 pip install (from source, with a C compiler), or unset the variable"
        ) from error


def _imported() -> CompiledParser:
    module = cast("CompiledParser", import_module(_NAME))
    if module.INTERFACE != _INTERFACE:
        raise ImportError(f"{_NAME} was built from another version of its source")
    return module


PARSER: Final = _load(os.environ.get(VARIABLE))
"""The compiled parser; None where the same is done in Python."""


def parser_name() -> str:
    """Return which parser of record batches is used."""
    return "general" if PARSER is None else "compiled"
