"""Parts of artefacts without a URN of their own, and their ``repr``."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

from kafka_replica.common.wording import counted, shortened

_VALUE: Final = 80
_WHOLE: Final = 400
_LISTED: Final = 3


class ValueObject(msgspec.Struct, frozen=True, gc=False):
    """A part of an artefact. Its ``repr`` omits what the message does not state, and shortens long values."""

    def __repr__(self) -> str:
        shown = (
            f"{name}={_shown(value)}"
            for name, default in _defaults(type(self))
            if (value := getattr(self, name)) is not default and value != default
        )
        return f"{type(self).__name__}({shortened(', '.join(shown), _WHOLE)})"


def _shown(value: object) -> str:
    if type(value) is tuple and len(value) > _LISTED:
        return f"<{counted(len(value), 'entry')}>"
    return shortened(repr(value), _VALUE)


@cache
def _defaults(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.default) for field in msgspec.structs.fields(kind))
