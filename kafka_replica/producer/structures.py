"""Structure files as records: one a maintainable artefact, key = its URN, value = a message of it alone."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kafka_replica.errors import MessageError, SdmxError, UnreadableContentError, UsageError
from kafka_replica.producer.transactions import Transaction
from kafka_replica.sdmx import (
    Part,
    SplitMessage,
    UnreadableArtefact,
    Urn,
    merge_copies,
    split_message,
    split_readable,
)
from kafka_replica.sdmx.lookups.structures import CONTENT_TYPE

TOPIC_SETTINGS = {"cleanup.policy": "compact", "max.message.bytes": str(16 << 20)}
"""What a topic of structures is created with."""

_STRUCTURE_SUFFIXES = (".xml", ".json", ".sdmx", ".gz", ".edi", ".ges", ".xlsx")


class Rejected(NamedTuple):
    """An artefact that is in a file and cannot be read."""

    file: Path
    error: UnreadableArtefact


class Merged(NamedTuple):
    """A scheme of items that stand alone in several files: the files, and the ids that these define differently."""

    files: tuple[Path, ...]
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Structures:
    """The artefacts of structure files, and what became of the rest."""

    parts: dict[Urn, Part]
    """One part for each artefact that can be read."""
    left_out: dict[Path, str] = field(default_factory=dict)
    """Files that cannot be read as a whole, each with the reason; only where the caller accepts that."""
    replaced: list[tuple[Urn, Path]] = field(default_factory=list)
    """Artefacts that more than one file holds: the one in this file, read later, is the one that counts."""
    rejected: list[Rejected] = field(default_factory=list)
    """Artefacts that cannot be read, while others in their file can."""
    merged: dict[Urn, Merged] = field(default_factory=dict)
    """Schemes that were merged of those in several files (``kafka_replica.sdmx.merge_copies``)."""


def put_part(transaction: Transaction, part: Part) -> None:
    """Writes one artefact: key = its URN, value = its message, content type in a header.

    Raises:
        PublishError: it cannot be sent.
    """
    transaction.put(str(part.urn), part.value, ((CONTENT_TYPE, part.content_type.encode()),))


def structure_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files meant: files as they are, folders by everything in them that may be a structure file, sorted.

    Raises:
        UsageError: there is no such file or folder.
    """
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if is_named_so(file.name) and file.is_file())
        elif path.exists():
            yield path
        else:
            raise UsageError(f"there is no file or folder {path}")


def is_named_so(name: str) -> bool:
    """Whether a file of that name may be a structure file."""
    return name.lower().endswith(_STRUCTURE_SUFFIXES)


def read_structures(
    files: Iterable[Path], *, skip_unreadable: bool | Container[Path] = False, check: bool = True
) -> Structures:
    """Cut files into artefacts; a later file replaces an artefact that an earlier one holds.

    Schemes that the reader makes of items standing alone (before SDMX 2.1) are merged.

    Args:
        files: the files.
        skip_unreadable: leave out files that cannot be read as a whole, all or these, instead of raising.
        check: reject artefacts that the reader cannot read; otherwise all that can be cut is taken.

    Raises:
        SdmxError: a file is no structure message, or in a format that this version does not cut.
        UsageError: a file cannot be opened.
    """
    structures = Structures({})
    copies: dict[Urn, list[tuple[Path, Part]]] = {}
    for file in files:
        try:
            parts, errors = _split(_bytes_of(file), check=check)
        except SdmxError as error:
            if not (skip_unreadable if isinstance(skip_unreadable, bool) else file in skip_unreadable):
                kind = UnreadableContentError if isinstance(error, UnreadableContentError) else MessageError
                raise kind(f"{file}: {error}") from error
            structures.left_out[file] = str(error)
            continue
        structures.rejected.extend(Rejected(file, error) for error in errors)
        for part in parts:
            copies.setdefault(part.urn, []).append((file, part))
    for urn, held in copies.items():
        try:
            structures.parts[urn], conflicts = merge_copies([part for _, part in held])
        except SdmxError as error:
            raise MessageError(f"{', '.join(str(file) for file, _ in held)}: {error}") from error
        if len(held) > 1 and any(part.is_synthetic for _, part in held):
            structures.merged[urn] = Merged(tuple(file for file, _ in held), conflicts)
        else:
            structures.replaced.extend((urn, file) for file, _ in held[1:])
    return structures


def _split(data: bytes, *, check: bool) -> SplitMessage:
    return split_readable(data) if check else SplitMessage(split_message(data), ())


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"reading {file}: {error.strerror}") from error
