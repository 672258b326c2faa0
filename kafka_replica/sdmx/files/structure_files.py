"""The artefacts of structure files, for ``publish`` and for look-ups without a broker."""

from __future__ import annotations

import glob
import os
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

from kafka_replica.errors import UsageError
from kafka_replica.sdmx.errors import MessageError, SdmxError, UnreadableContentError
from kafka_replica.sdmx.files.merging import merge_copies
from kafka_replica.sdmx.messages.message import UnreadableArtefact
from kafka_replica.sdmx.reading.splitting import MessagePart, SplitMessage, split_message, split_readable
from kafka_replica.sdmx.urns.urn import Urn

FileSource: TypeAlias = str | os.PathLike[str] | IO[bytes]
"""A file, a folder of files, a pattern with ``*``, ``?`` or ``[...]``, or a file object that is open for bytes."""

_SUFFIXES = (".xml", ".json", ".sdmx", ".gz", ".edi", ".ges", ".xlsx")


class OpenFile(NamedTuple):
    """A file object, and its name for messages."""

    name: Path
    content: IO[bytes]


class RejectedArtefact(NamedTuple):
    """An artefact in a file that cannot be read."""

    file: Path
    error: UnreadableArtefact


class MergedScheme(NamedTuple):
    """A scheme of standalone items that was merged from several files: the files, and the ids defined differently."""

    files: tuple[Path, ...]
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileContents:
    """The artefacts of structure files, and an account of everything else in the files."""

    parts: dict[Urn, MessagePart]
    """A part for each readable artefact."""
    left_out: dict[Path, str] = field(default_factory=dict)
    """Files that cannot be read as a whole, each with the reason; only if the caller accepts unreadable files."""
    replaced: list[tuple[Urn, Path]] = field(default_factory=list)
    """Artefacts that several files hold: the artefact in this file, read later, wins."""
    rejected: list[RejectedArtefact] = field(default_factory=list)
    """Artefacts that cannot be read, in files with other, readable artefacts."""
    merged: dict[Urn, MergedScheme] = field(default_factory=dict)
    """Schemes that were merged from several files (``kafka_replica.sdmx.merge_copies``)."""


def files_of(sources: Iterable[FileSource]) -> Iterator[Path | OpenFile]:
    """Yield the files that sources refer to, each once, in their order.

    Folders are searched for all files whose names suggest a structure file, sorted. A pattern refers to the files and
    folders that match it, sorted; ``**`` matches any folders.

    Raises:
        UsageError: there is no such file or folder, or nothing matches a pattern.
    """
    seen: set[Path] = set()
    for number, source in enumerate(sources, 1):
        if isinstance(source, str | os.PathLike):
            new = dict.fromkeys(file for file in structure_files(_matching(Path(source))) if file not in seen)
            seen.update(new)
            yield from new
        else:
            name = getattr(source, "name", None)
            yield OpenFile(Path(name if isinstance(name, str) else f"<file object {number}>"), source)


def _matching(path: Path) -> list[Path]:
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - the pattern may begin at the root
    if not found:
        raise UsageError(f"no file or folder matches {path}")
    return [Path(one) for one in found]


def structure_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that paths refer to: files as they are, and possible structure files in folders, sorted.

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
    """Return whether a file with this name may be a structure file."""
    return name.lower().endswith(_SUFFIXES)


def read_structures(
    files: Iterable[Path | OpenFile], *, skip_unreadable: bool | Container[Path] = False, check: bool = True
) -> FileContents:
    """Split files into artefacts; a later file replaces an artefact of an earlier file.

    Schemes that the reader creates for standalone items (before SDMX 2.1) are merged.

    Args:
        files: the files.
        skip_unreadable: True leaves out files that cannot be read as a whole; a container does so for the files in it.
        check: reject artefacts that the reader cannot read; otherwise all artefacts that can be split off are accepted.

    Raises:
        SdmxError: a file is not a structure message, or its format cannot be split by this version.
        UsageError: a file cannot be opened.
    """
    contents = FileContents({})
    copies: dict[Urn, list[tuple[Path, MessagePart]]] = {}
    for given in files:
        file = given.name if isinstance(given, OpenFile) else given
        try:
            parts, errors = _split(_bytes_of(given), check=check)
        except SdmxError as error:
            if not (skip_unreadable if isinstance(skip_unreadable, bool) else file in skip_unreadable):
                kind = UnreadableContentError if isinstance(error, UnreadableContentError) else MessageError
                raise kind(f"{file}: {error}") from error
            contents.left_out[file] = str(error)
            continue
        contents.rejected.extend(RejectedArtefact(file, error) for error in errors)
        for part in parts:
            copies.setdefault(part.urn, []).append((file, part))
    for urn, held in copies.items():
        try:
            contents.parts[urn], conflicts = merge_copies([part for _, part in held])
        except SdmxError as error:
            names = ", ".join(str(file) for file, _ in held)
            if skip_unreadable is not True:
                raise MessageError(f"{names}: {error}") from error
            contents.rejected.append(
                RejectedArtefact(held[-1][0], UnreadableArtefact(urn.cls, urn.id, urn, names, str(error)))
            )
            continue
        if len(held) > 1 and any(part.is_synthetic for _, part in held):
            contents.merged[urn] = MergedScheme(tuple(file for file, _ in held), conflicts)
        else:
            contents.replaced.extend((urn, file) for file, _ in held[1:])
    return contents


def _split(data: bytes, *, check: bool) -> SplitMessage:
    return split_readable(data) if check else SplitMessage(split_message(data), ())


def _bytes_of(file: Path | OpenFile) -> bytes:
    try:
        found = file.content.read() if isinstance(file, OpenFile) else file.read_bytes()
    except OSError as error:
        raise UsageError(f"reading {getattr(file, 'name', file)}: {error.strerror}") from error
    if not isinstance(found, bytes):
        raise UsageError(
            f"reading {getattr(file, 'name', file)}: it is open in text mode; open it in binary mode, open(path, 'rb')"
        )
    return found
