"""Access to the modules of the package cryptography, an optional dependency; all uses of it import it here."""

from __future__ import annotations

import importlib
from types import ModuleType

from kafka_replica.errors import MissingExtraError


def cryptography_module(name: str) -> ModuleType:
    """Return a module of the package cryptography, such as ``hazmat.primitives.serialization``.

    Raises:
        ImportError: the package is not installed.
    """
    return importlib.import_module(f"cryptography.{name}")


def needed_cryptography(name: str, *, what: str, extra: str) -> ModuleType:
    """Return such a module for a function of this library, which the error names.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        return cryptography_module(name)
    except ImportError as error:
        raise MissingExtraError(what, extra) from error
