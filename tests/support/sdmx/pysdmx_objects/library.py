"""Import pysdmx on first use."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from kafka_replica.errors import MissingExtraError


@cache
def pysdmx() -> Any:
    """Return the classes of ``pysdmx.model``, including those in its submodules, and its error ``Invalid``.

    Raises:
        MissingExtraError: pysdmx is not installed.
    """
    try:
        from pysdmx import model
        from pysdmx.errors import Invalid
        from pysdmx.model import code, constraint, dataflow, dataset, organisation
    except ImportError as error:
        raise MissingExtraError("converting to pysdmx", "pysdmx") from error
    modules = (code, constraint, dataset, dataflow, organisation, model)
    found = {name: kind for module in modules for name, kind in vars(module).items()}
    return SimpleNamespace(**found | {"Invalid": Invalid})
