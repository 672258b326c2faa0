"""The optional compiled modules: ``_batches.c`` and ``_records.c``, which read record batches, and ``_heap.c``.

``hatch_build.py`` compiles the modules into an environment that is created from a checkout, if there is a C compiler; a
wheel contains them only if this was requested, as the release workflow does for Linux. Without the modules, Python code
does the same, with the same results. The environment variable ``KAFKA_REPLICA_COMPILED`` applies to builds and at run
time: ``0`` never uses the modules, ``1`` requires them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Protocol, cast

from kafka_replica.errors import ConfigurationError

VARIABLE: Final = "KAFKA_REPLICA_COMPILED"
_INTERFACE: Final = 5  # as in _module.h


class CompiledParser(Protocol):
    """The module ``_records``."""

    RecordFields: type[Any]
    """The fields of a record; see ``record_fields``."""

    def parse(
        self,
        batch: bytes | memoryview,
        decompressed: bytes | memoryview | None,
        from_offset: int,
        record_type: type[Any],
        source: object,
        /,
    ) -> list[Any]:
        """Return the records of a batch, from an offset on.

        Args:
            batch: the batch with its head.
            decompressed: the batch without its head, decompressed; None if the batch is not compressed.
            from_offset: records below this offset are left out.
            record_type: the type of the records, which is ``RecordFields``.
            source: the last item of each record.

        Raises:
            ValueError: the batch is damaged.
        """

    def record_ends(self, data: bytes | memoryview, counts: list[int], separator: bytes, /) -> list[int]:
        """Return where the records of each batch end, in the joined content of several batches.

        Args:
            data: the content of the batches, decompressed, each followed by the separator.
            counts: the number of records of each batch.
            separator: the bytes between batches.

        Raises:
            ValueError: a batch has another number of records.
        """

    def add(self, changes: dict[Any, Any], records: Sequence[Any], /) -> int:
        """Put records into a dict by their keys; return how many have no value.

        Args:
            changes: the dict.
            records: records, or tuples of key, value and more.
        """

    def add_new(self, changes: dict[Any, Any], batches: Sequence[Sequence[Any]], /) -> tuple[int, int] | None:
        """Put the records of batches into a dict, unless one has no key, or a key that another one or the dict has.

        Args:
            changes: the dict.
            batches: a list of lists of records.

        Returns:
            The number of records and how many have no value; None if nothing was put into the dict.
        """

    def size_bytes(self, records: Sequence[Any], /) -> int:
        """Return the size of the keys and values of records, in bytes; some may have none."""

    def write(
        self,
        changes: list[tuple[bytes, Any]],
        source: object,
        put: Callable[[bytes, bytes], object],
        delete: Callable[[bytes], object],
        prefix: bytes,
        number_of: Callable[[Any], int],
        pack_headers: Callable[[Any], bytes],
        /,
    ) -> None:
        """Write records, in the encoding of the store on disk; delete the keys of tombstones.

        Args:
            changes: keys of the store with their records.
            source: the partition of records that do not contain one.
            put: called with a key and an encoded record.
            delete: called with the key of a tombstone.
            prefix: precedes each key.
            number_of: returns the index of a partition.
            pack_headers: encodes the headers of a record.
        """

    def untrack(self, records: dict[Any, Any], /) -> None:
        """Hide a dict of plain records from the garbage collector, until an item is added to it.

        Otherwise each full collection would visit all of its records, although plain values cannot form a cycle.
        """


class CompiledScanner(Protocol):
    """The functions of the module ``_batches``."""

    def scan(
        self,
        data: bytes | memoryview,
        partition: object,
        position: int,
        leader_epoch: int,
        spill_buffer: object,
        batch_type: type[tuple[Any, ...]],
        kinds: tuple[Any, Any, Any, Any],
        content_type: Callable[[Any, Any, int, Any], Any],
        kind_of_marker: Callable[[Any], Any],
        /,
    ) -> tuple[list[Any], list[tuple[Any, Any, int]], bool, int, int, int]:
        """Return the batches of a partition in a fetch response, from an offset on.

        Args:
            data: the batches; the last one may be truncated.
            partition: the first item of each batch.
            position: batches below this offset are left out.
            leader_epoch: the epoch of the batch before.
            spill_buffer: passed to ``content_type``.
            batch_type: the type of the batches, a tuple of partition, kind, first offset, offset after the last one,
                number of records, producer id, producer epoch and content.
            kinds: the kinds of batches outside of and within transactions, and of markers that commit and abort.
            content_type: called with the bytes of a batch, the partition, the offset below which its records are left
                out (0 leaves out none), and the spill buffer; returns the last item of the batch.
            kind_of_marker: called with the bytes of a control batch that has another form than brokers write; returns
                its kind, or None if the batch is to be left out.

        Returns:
            The batches; content, bytes and number of records of each compressed one; whether an offset is missing; the
            position and the leader epoch after the batches; and where a batch begins that has another magic number than
            2, or an impossible length or offset, at which scanning ended, or -1.
        """


class CompiledHeap(Protocol):
    """The functions of the module ``_heap``."""

    def reserve(self, size_bytes: int, /) -> object:
        """Allocate blocks of about this total size in the calling thread's heap; return them as a reserve."""

    def populate(self, reserve: object, /) -> None:
        """Let the system provide the memory of a reserve, without the interpreter lock; any thread may call this."""

    def release(self, reserve: object, /) -> None:
        """Free the blocks of a reserve, so that the next objects are created in their memory."""


def _load(name: str, wanted: str | None) -> ModuleType | None:
    """Import a compiled module; return None if it is not used.

    Args:
        name: the name of the module.
        wanted: the value of the environment variable; None if it is not set.

    Raises:
        ConfigurationError: the module is required, but cannot be used.
    """
    if wanted == "0":
        return None
    try:
        module = import_module(f"kafka_replica.common.{name}")
        if module.INTERFACE != _INTERFACE:
            raise ImportError(f"{name} was built from another version of its source")
    except ImportError as error:
        if wanted != "1":
            return None
        raise ConfigurationError(
            f"{VARIABLE}=1 requires the compiled parser of record batches, which cannot be used: {error}; build it "
            f"with {VARIABLE}=1 pip install (from source, with a C compiler), or unset the variable"
        ) from error
    return module


PARSER: Final = cast("CompiledParser | None", _load("_records", os.environ.get(VARIABLE)))
"""The compiled parser; None if Python code does the same."""

SCANNER: Final = cast("CompiledScanner | None", _load("_batches", os.environ.get(VARIABLE)))
"""The compiled scanner of batches; None if Python code does the same."""

HEAP: Final = cast("CompiledHeap | None", _load("_heap", os.environ.get(VARIABLE)))
"""The compiled functions for the heap; None if they are not used."""


def parser_name() -> str:
    """Return the name of the used parser of record batches: ``compiled`` or ``general``."""
    return "general" if PARSER is None else "compiled"
