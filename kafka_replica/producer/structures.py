"""Structure files as records: one a maintainable artefact, key = its URN, value = a message of it alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_replica.errors import MessageError, SdmxError, UnreadableContentError, UsageError
from kafka_replica.producer.transactions import Transaction
from kafka_replica.sdmx import Part, Urn, split_message
from kafka_replica.sdmx.lookups.structures import CONTENT_TYPE

_STRUCTURE_SUFFIXES = (".xml", ".json", ".sdmx", ".gz", ".edi", ".ges", ".xlsx")


@dataclass(frozen=True, slots=True)
class Structures:
    """What structure files hold, a part an artefact, and which of them were left out, and why."""

    parts: dict[Urn, Part]
    left_out: dict[Path, str]
    """Files in formats that this version does not cut; only when the caller accepts that."""
    replaced: list[tuple[Urn, Path]]
    """Artefacts that more than one file holds: the one in this file, read later, is the one that counts."""


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


def read_structures(files: Iterable[Path], *, skip_unreadable: bool = False) -> Structures:
    """Cuts files into artefacts; a later file replaces what an earlier one says of the same artefact.

    Args:
        files: the files.
        skip_unreadable: leave out files that cannot be cut (and say so) instead of raising.

    Raises:
        SdmxError: a file is no structure message, or in a format that this version does not cut.
        UsageError: a file cannot be opened.
    """
    structures = Structures({}, {}, [])
    for file in files:
        try:
            parts = split_message(_bytes_of(file))
        except SdmxError as error:
            if not skip_unreadable:
                kind = UnreadableContentError if isinstance(error, UnreadableContentError) else MessageError
                raise kind(f"{file}: {error}") from error
            structures.left_out[file] = str(error)
            continue
        structures.replaced.extend((part.urn, file) for part in parts if part.urn in structures.parts)
        structures.parts.update((part.urn, part) for part in parts)
    return structures


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"reading {file}: {error.strerror}") from error
