"""The steps of a relay, at which tests stop it or kill the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Step: TypeAlias = Callable[[str], None]
"""Called with the name of each step before the step is taken; tests kill the process there."""
