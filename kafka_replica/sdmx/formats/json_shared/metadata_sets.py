"""Values of reported attributes in JSON."""

from __future__ import annotations

from typing import Final

import msgspec

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.formats.json_shared.names import refuse_repeated
from kafka_replica.sdmx.formats.json_shared.tree import decoded, is_null, members_of, scalar_text

_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_WHAT: Final = "the value of a reported attribute"


def read_reported_value(written: msgspec.Raw) -> tuple[tuple[str, ...], InternationalString]:
    """Return the values, and the text by language, in a JSON value of a reported attribute, as in SDMX-ML.

    Numbers keep their digits as written. The value is decoded only here, so names in it are checked here, too.

    Raises:
        MessageError: a name is repeated in an object, or a text is damaged.
    """
    data = bytes(written).strip()
    if data.startswith((b"{", b"[")):
        refuse_repeated(data)
    if data.startswith(b"{"):
        texts = {name: raw for name, raw in members_of(data, _WHAT).items() if not is_null(raw)}
        if all(bytes(raw).strip().startswith(b'"') for raw in texts.values()):
            return (), InternationalString({name: scalar_text(raw, _WHAT) for name, raw in texts.items()})
    if data.startswith(b"["):
        return tuple(scalar_text(raw, _WHAT) for raw in decoded(_LIST, data, _WHAT)), NO_TEXT
    return () if data in {b"", b"null"} else (scalar_text(written, _WHAT),), NO_TEXT
