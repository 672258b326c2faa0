"""Access to the modules of the package cryptography, an optional dependency; all uses of it import it here."""

from __future__ import annotations

import importlib
from types import ModuleType


def cryptography_module(name: str) -> ModuleType:
    """Return a module of the package cryptography, such as ``hazmat.primitives.serialization``.

    Raises:
        ImportError: the package is not installed.
    """
    return importlib.import_module(f"cryptography.{name}")
