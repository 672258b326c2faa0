"""A folder of structure files as a source.

The files are the complete content: an artefact that is no longer in any file is deleted. So nothing is recorded while a
file is being written, a file cannot be read, or all files are gone (as with a volume that is not mounted).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from stat import S_ISREG
from threading import Event
from typing import NamedTuple

from kafka_replica.errors import MissingExtraError
from kafka_replica.producer.changes.changes import Put, UnreadableKey
from kafka_replica.producer.errors import SourceError
from kafka_replica.producer.sources.contents import Contents, combine, contents_of
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.files.structure_files import is_named_so

try:
    from watchfiles import watch
except ImportError as error:
    raise MissingExtraError("watching a folder", "producer") from error

_log = logging.getLogger("kafka_replica.producer")

_MAX_CHECKS = 20  # the maximum number of checks whether the files have stopped changing


@dataclass(frozen=True)
class FolderSettings:
    """The files of a source, and how they are watched."""

    folders: tuple[str, ...]
    """The folders, searched recursively. Names that begin with a dot are left out."""
    pattern: str = "*"
    """The pattern of file names to read, among those that may be structure files."""
    quiet_s: float = 0.5
    """The time without a change, in seconds, after which the folder is read."""
    interval_s: float = 5.0
    """The longest interval between checks, in seconds: not every file system reports changes."""
    allow_empty: bool = False
    """Take a folder without structure files to mean that everything was deleted; otherwise it is an error."""


def _refuse(error: OSError) -> None:
    raise error


class _Stamp(NamedTuple):
    """The file attributes that change whenever the file changes."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int


class FolderSource:
    """A source of all structure files in folders; if several files have the same artefact, the last file counts.

    Unchanged files are not read again, because their contents are kept in memory.
    """

    def __init__(self, settings: FolderSettings) -> None:
        self._settings = settings
        self._paths = [Path(folder) for folder in settings.folders]
        self._stamps: dict[Path, _Stamp] | None = None
        self._contents: dict[Path, Contents] = {}
        self._is_taken = False

    def __repr__(self) -> str:
        return f"<FolderSource {', '.join(map(str, self._paths))}>"

    def read(self) -> list[Put | UnreadableKey] | None:
        """Return the contents of all files; None if no file has changed.

        Raises:
            SourceError: a folder is missing or empty, a file cannot be read, or the files do not stop changing.
        """
        stamps = self._scan()
        if stamps == self._stamps and self._is_taken:
            return None
        for _ in range(_MAX_CHECKS):
            Event().wait(self._settings.quiet_s)
            before, stamps = stamps, self._scan()
            if stamps != before:
                continue
            contents = {file: self._contents_of(file, stamp) for file, stamp in stamps.items()}
            if self._scan() == stamps:
                self._stamps, self._contents, self._is_taken = stamps, contents, True
                return combine({str(file): content for file, content in contents.items()})
        raise SourceError(f"{self._doing()}: files change constantly; write them elsewhere first, then move them here")

    def forget(self) -> None:
        """Make the next read return everything."""
        self._is_taken = False

    def wait(self, closing: Event) -> None:
        """Wait for a change, at most ``interval_s`` seconds."""
        timeout_ms = max(1, int(self._settings.interval_s * 1000))
        watched = [path for path in self._paths if path.is_dir()]
        if len(watched) < len(self._paths):
            closing.wait(self._settings.interval_s)
            return
        try:
            next(
                watch(
                    *watched, watch_filter=None, debounce=200, stop_event=closing, rust_timeout=timeout_ms,
                    yield_on_timeout=True, raise_interrupt=False,
                ),
                None,
            )  # fmt: skip
        except (OSError, RuntimeError) as error:  # a folder that just disappeared, or too many watches
            _log.info("%s: polling every %g s (%s)", self._doing(), self._settings.interval_s, error)
            closing.wait(self._settings.interval_s)

    def _scan(self) -> dict[Path, _Stamp]:
        stamps: dict[Path, _Stamp] = {}
        for folder in self._paths:
            if not folder.is_dir():
                raise SourceError(
                    f"{self._doing()}: the folder {folder} does not exist; nothing is deleted until it exists again"
                )
            try:
                here = dict(self._stamps_in(folder))
            except OSError as error:
                raise SourceError(f"{self._doing()}: {error}; nothing is recorded") from error
            if not here and not self._settings.allow_empty:
                raise SourceError(
                    f"{self._doing()}: {folder} contains no structure file, like a volume that is not mounted; "
                    "nothing is "
                    "deleted: set allow_empty if this is intended"
                )
            stamps.update(here)
        return stamps

    def _stamps_in(self, folder: Path) -> Iterator[tuple[Path, _Stamp]]:
        """Yield the files to read; raise OSError if a folder or the target of a link cannot be accessed."""
        for place, folders, names in os.walk(folder, onerror=_refuse):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if is_named_so(name) and not name.startswith(".") and fnmatchcase(name, self._settings.pattern):
                    file = Path(place, name)
                    try:
                        status = file.stat()
                    except FileNotFoundError:
                        if file.is_symlink():
                            raise
                        continue  # the file just disappeared
                    if S_ISREG(status.st_mode):
                        yield file, _Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)

    def _contents_of(self, file: Path, stamp: _Stamp) -> Contents:
        if self._stamps is not None and self._stamps.get(file) == stamp and file in self._contents:
            return self._contents[file]
        try:
            return contents_of(file.read_bytes())
        except (OSError, SdmxError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise SourceError(f"{self._doing()}: {file}: {reason}; nothing is recorded until it can be read") from error

    def _doing(self) -> str:
        return f"reading {', '.join(map(str, self._paths))}"
