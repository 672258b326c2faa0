"""Access to the modules of the package cryptography, an optional dependency that is imported only here."""

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
    """Return a module of the package cryptography for a function of this library, or report the missing extra.

    Args:
        name: the name of the module, as for :func:`cryptography_module`.
        what: the function that needs the package, for the error message.
        extra: the extra of this library that installs the package.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        return cryptography_module(name)
    except ImportError as error:
        raise MissingExtraError(what, extra) from error
