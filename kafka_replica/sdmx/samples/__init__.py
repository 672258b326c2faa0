"""A small sample of structures for demos and tests: two domains of an invented statistical office.

Labour statistics are spread over three messages in three formats (SDMX-ML 2.1, Fusion-JSON, SDMX-ML 3.0); air quality
is in one message. All references resolve within the four files. The folder ``extra`` holds data of the labour domain
with two wrong rows, and a map to another structure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["extra_files", "sample_files"]

_HERE: Final = Path(__file__).parent


def sample_files() -> list[Path]:
    """Return the sample messages, sorted by name."""
    return sorted(path for path in _HERE.iterdir() if path.suffix in {".xml", ".json"})


def extra_files() -> list[Path]:
    """Return the map and the data that go with the sample messages, sorted by name."""
    return sorted(path for path in (_HERE / "extra").iterdir() if path.suffix in {".xml", ".csv"})
