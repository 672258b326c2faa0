"""Find members of data sets and series that SDMX-JSON does not define, and that are therefore not read.

Source: SDMX-JSON data message, field guide 2.1, "Extending SDMX-JSON".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from kafka_replica.data.files.messages.json.keys import member
from kafka_replica.data.files.messages.json.wire import Body, DataSet, Message, Series, failure

_Members: TypeAlias = dict[str, Raw]
_MOST: Final = 10
_LONGEST: Final = 40


def unread_members(data: bytes, where: str) -> tuple[str, ...]:
    """Return a sentence for each name of unknown members of data sets and series, up to a limit.

    Args:
        data: the text of a message that has been decoded, in UTF-8.
        where: the file, for errors.

    Raises:
        DatasetError: an unknown member is called almost like a known one, and so probably holds data.
    """
    found: dict[str, str] = {}
    for path, members, struct in _objects(data):
        known = struct.__struct_encode_fields__
        for name in members:
            if name in known:
                continue
            shown = repr(name[:_LONGEST])
            meant = next((one for one in known if _simplified(one) == _simplified(name)), None)
            if meant is not None:
                raise failure(where, f"{path or 'data'}: {shown} is not a member in SDMX-JSON; did you mean {meant!r}?")
            if path:
                found.setdefault(
                    name, f"{path} has the member {shown}, which SDMX-JSON does not define; it is not read"
                )
    return tuple(found.values())[:_MOST]


def _objects(data: bytes) -> Iterator[tuple[str, Iterable[str], type[Struct]]]:
    """Yield the path, the members and the known members of the data of a message, and of each data set and series."""
    message: _Members = msgspec.json.decode(data, type=_Members)
    body = _decoded(message.get("data"), _Members) or message
    yield "", body, Message if body is message else Body
    for place, dataset in enumerate(_decoded(body.get("dataSets"), list[_Members])):
        path = f"dataSets[{place}]"
        yield path, dataset, DataSet
        for key, series in _decoded(dataset.get("series"), dict[str, _Members]).items():
            yield member(f"{path}.series", key), series, Series


def _decoded(value: Raw | None, kind: Any) -> Any:
    """Return a value of this kind; an empty one if there is none."""
    return (None if value is None else msgspec.json.decode(value, type=kind | None)) or kind()


def _simplified(name: str) -> str:
    """Return a name without the differences that mistakes make."""
    return name.lower().replace("_", "").replace("-", "").removesuffix("s")
