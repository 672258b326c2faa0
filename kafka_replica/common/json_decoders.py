"""Decoders of JSON, made by one thread at a time.

msgspec (up to 0.22) lets other threads see a type as soon as it begins to prepare its fields. A thread that decodes the
type before they are ready ends the process with a segmentation fault. This is likely where two threads need a type for
the first time, such as the first requests to a service.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Final, TypeVar, overload

from msgspec.json import Decoder

from kafka_replica.common.process import free_at_fork

T = TypeVar("T")
ONE_AT_A_TIME: Final = RLock()
"""Held while msgspec may prepare types, also those of another library that uses it."""
free_at_fork(ONE_AT_A_TIME)


@overload
def json_decoder(
    kind: type[T], *, strict: bool = True, float_hook: Callable[[str], Any] | None = None
) -> Decoder[T]: ...


@overload
def json_decoder(
    kind: Any = Any, *, strict: bool = True, float_hook: Callable[[str], Any] | None = None
) -> Decoder[Any]: ...


def json_decoder(
    kind: Any = Any, *, strict: bool = True, float_hook: Callable[[str], Any] | None = None
) -> Decoder[Any]:
    """Return a decoder, after whose return any thread may use the type; the arguments are those of msgspec's decoder.

    Raises:
        TypeError: msgspec cannot decode this type.
    """
    with ONE_AT_A_TIME:
        return Decoder(kind, strict=strict, float_hook=float_hook)


def prepared(kind: type[T]) -> type[T]:
    """Return a type after whose return any thread may use it, as an argument of ``msgspec.convert`` too."""
    json_decoder(kind)
    return kind
