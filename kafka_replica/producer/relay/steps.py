"""The steps of a relay, at which tests stop it or kill the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Step: TypeAlias = Callable[[str], None]
"""A function that is called with the name of each step; tests kill the process there."""
