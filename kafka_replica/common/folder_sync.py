"""Durability of the names in a folder, and of small files."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Wait until names that were created, replaced or removed in a folder would survive a power failure.

    Systems that cannot open folders are ignored; there, a power failure may restore the previous names.
    """
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def replace_durably(file: Path, text: str, unfinished: Path) -> None:
    """Replace a file, or create it: after a crash or a power failure, it has the previous content or the new one.

    Args:
        file: the file.
        text: its new content.
        unfinished: a path in the same folder for the new content until it is complete.

    Raises:
        OSError: the new content was not written; the previous file stays.
    """
    with unfinished.open("w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.replace(file)
    sync_folder(file.parent)
