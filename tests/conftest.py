"""Makes ``support``, ``chaos`` and ``fuzz`` importable in the processes that tests start, too."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = str(Path(__file__).resolve().parent)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_FOLDER, os.environ.get("PYTHONPATH")]))
