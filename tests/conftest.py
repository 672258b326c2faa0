"""Makes ``support``, ``chaos`` and ``fuzz`` importable in the processes that tests start, and tests repeatable."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

_FOLDER = str(Path(__file__).resolve().parent)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_FOLDER, os.environ.get("PYTHONPATH")]))

# The same examples in every run: an unchanged tree gives no new failure. HYPOTHESIS_PROFILE=default varies them.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
