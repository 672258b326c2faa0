"""Durability of the names in a folder."""

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
