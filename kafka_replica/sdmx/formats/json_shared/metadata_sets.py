"""Values of reported attributes in JSON."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.formats.json_shared.parsing import decoded, is_null, members_of, scalar_text
from kafka_replica.sdmx.formats.json_shared.repeated_names import refuse_repeated

_LIST: Final = json_decoder(list[msgspec.Raw])
_LITERALS: Final = frozenset(character.encode() for character in "-0123456789tf")
"""The first characters of numbers and booleans."""
_WHAT: Final = "the value of a reported attribute"


class ReportedValue(NamedTuple):
    """The values, or the text by language; ``is_literal`` as in ``ReportedAttribute``."""

    values: tuple[str, ...] = ()
    texts: InternationalString = NO_TEXT
    is_literal: bool = False


def read_reported_value(written: msgspec.Raw) -> ReportedValue:
    """Return the content of a JSON value of a reported attribute, as in SDMX-ML.

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
            return ReportedValue(
                texts=InternationalString({name: scalar_text(raw, _WHAT) for name, raw in texts.items()})
            )
    if data in {b"", b"null"}:
        return ReportedValue()
    found = decoded(_LIST, data, _WHAT) if data.startswith(b"[") else [written]
    is_literal = bool(found) and all(bytes(one).strip()[:1] in _LITERALS for one in found)
    return ReportedValue(tuple(scalar_text(one, _WHAT) for one in found), is_literal=is_literal)
