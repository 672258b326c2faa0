"""A small sample of structures for demos and tests: two domains of an invented statistical office.

Labour statistics are spread over three messages in three formats (SDMX-ML 2.1, Fusion-JSON, SDMX-ML 3.0),
air quality is one message. All references resolve within the four files.
"""

from __future__ import annotations

from pathlib import Path


def sample_files() -> list[Path]:
    """The sample messages, sorted by name."""
    here = Path(__file__).parent
    return sorted(path for path in here.iterdir() if path.suffix in {".xml", ".json"})
