"""Making the names in a folder durable."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Wait until names that were created, replaced or removed in a folder would survive a power cut.

    Not every system can open folders; a power cut may restore the previous names there.
    """
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
