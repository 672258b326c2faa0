"""Import sdmx1 (as ``sdmx``) on first use."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from kafka_replica.errors import MissingExtraError


class Sdmx1(NamedTuple):
    """The modules of sdmx1; ``common`` is for both editions of its model, ``v21`` and ``v30`` for one each."""

    common: Any
    v21: Any
    v30: Any
    message: Any


@cache
def sdmx1() -> Sdmx1:
    """Return the library. Raises MissingExtraError."""
    try:
        from sdmx import message  # noqa: PLC0415
        from sdmx.model import common, v21, v30  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("converting to and from sdmx1", "sdmx1") from error
    return Sdmx1(common, v21, v30, message)
