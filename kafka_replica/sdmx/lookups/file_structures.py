"""Look-ups in structure files, without a broker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kafka_replica.common.wording import counted
from kafka_replica.records import Key, Partition, Record, key_bytes
from kafka_replica.sdmx.files.structure_files import FileContents, FileSource, files_of, read_structures
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.lookups.decoding import CONTENT_TYPE
from kafka_replica.sdmx.lookups.structures import Structures
from kafka_replica.sdmx.reading.splitting import MessagePart
from kafka_replica.sdmx.urns.urn import Urn

_PLACE: Final = Partition("structure files", 0)


class FileError(NamedTuple):
    """A file, or an artefact in a file, that could not be read.

    ``urn`` is None if the file could not be read as a whole, or the artefact does not state its URN.
    """

    file: Path
    urn: Urn | None
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


class FileSnapshot:
    """Version 1 of a topic with the contents of structure files: one record per artefact, keys in file order."""

    version: int = 1

    def __init__(self, parts: Iterable[MessagePart]) -> None:
        self._records: Mapping[bytes, Record] = {
            bytes(part.urn): Record(
                bytes(part.urn), part.value, offset, -1, ((CONTENT_TYPE, part.content_type.encode()),), _PLACE
            )
            for offset, part in enumerate(parts)
        }

    def __repr__(self) -> str:
        return f"<FileSnapshot of {counted(len(self), 'artefact')}>"

    def get(self, key: Key) -> Record | None:
        """Return the record of a key, or None."""
        return self._records.get(key_bytes(key))

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


class FileStructures(Structures):
    """Look-ups in structure files.

    Attributes:
        errors: the files and artefacts that could not be read; all others are available.
        contents: the artefacts as they would be published, with the replacements and merges among the files.
    """

    errors: tuple[FileError, ...] = ()
    contents: FileContents = FileContents({})


def read_files(*sources: FileSource, cache: DecodeCache | None = None) -> FileStructures:
    """Return look-ups in the artefacts of structure files; no broker is needed.

    The artefacts are those that ``kafka-replica publish`` publishes from the same files, in every readable format:
    if several files contain the same artefact, the last file wins; standalone item schemes are merged.

    Args:
        sources: files, folders, patterns (``structures/**/*.xml``), or file objects open for bytes. Folders are
            searched for files whose names end like structure files.
        cache: the cache of decoded messages; shared by the process by default.

    Raises:
        UsageError: there is no such file or folder, nothing matches a pattern, or a file cannot be opened.
    """
    contents = read_structures(files_of(sources), skip_unreadable=True)
    # Each part holds only one artefact, so there are no companions.
    made = FileStructures(FileSnapshot(contents.parts.values()), cache=cache, companions=False)
    made.contents = contents
    made.errors = (
        *(FileError(file, None, reason) for file, reason in contents.left_out.items()),
        *(FileError(file, error.urn, str(error)) for file, error in contents.rejected),
    )
    return made
