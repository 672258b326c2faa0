"""Open JSON messages: the outermost levels of a message, and its format, Fusion-JSON or an edition of SDMX-JSON."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared import repeated_names
from kafka_replica.sdmx.formats.json_shared.collection_names import CLASS_OF_COLLECTION, FUSION_SETS, WITHOUT_URN
from kafka_replica.sdmx.formats.json_shared.parsing import is_null, members_of
from kafka_replica.sdmx.formats.shared.reading.budget import Budget
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector
from kafka_replica.sdmx.messages.format import Format, of_json_schema
from kafka_replica.sdmx.urns.classes import CLASSES


class _Meta(msgspec.Struct):
    """A header."""

    schema: str | None = None


class JsonMessage(NamedTuple):
    """The outermost levels of a message: format, header as bytes if any, its lists by name; ``$schema`` (2.1)."""

    format: Format
    meta: msgspec.Raw | None
    collections: dict[str, msgspec.Raw]
    budget: Budget
    schema: msgspec.Raw | None = None
    has_repeated: bool = False
    """True if a name is repeated in an object of an artefact; set only if errors are collected."""


_META: Final = json_decoder(_Meta).decode
_EMPTY_LIST: Final = re.compile(rb"\[\s*\]").match
_EXTENSION: Final = "x-"
_TWO_PLACES: Final = "reading a JSON message: it has lists of artefacts next to 'data'; put them into it"


def opened(data: bytes, claimed: Format | None, collector: ErrorCollector = STRICT) -> JsonMessage:
    """Return the outermost levels. The content decides the format; ``claimed`` applies if the content is ambiguous.

    Raises:
        MessageError: the data is not JSON, not UTF-8, not a structure message, or repeats a name in an object.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MessageError(f"reading a JSON message: it is not UTF-8 at byte {error.start}, line {line}") from None
    has_repeated = repeated_names.refuse_repeated_outside(data, collector)
    return _opened(data, claimed)._replace(has_repeated=has_repeated)


def _opened(data: bytes, claimed: Format | None) -> JsonMessage:
    top = members_of(data, "a JSON message")
    meta = top.pop("meta", None)
    budget = Budget(len(data))
    if "data" in top and is_null(top["data"]):
        _refuse_errors(top)
        top["data"] = msgspec.Raw(b"{}")
    if "data" in top and not any(name in CLASSES for name in top):
        schema = top.get("$schema")
        held = members_of(top["data"], "the data of SDMX-JSON")
        if FUSION_SETS in held:
            return JsonMessage(Format.FUSION_JSON, meta, _lists_in(held), budget)
        if "dataSets" in held:
            raise MessageError("reading a JSON message: it is a data message (it has dataSets), not one of structures")
        lists = _lists_in(held)
        if not any(map(_is_filled, lists.values())):
            _refuse_errors(top)
        if any(name.lower() in CLASS_OF_COLLECTION and _is_filled(raw) for name, raw in top.items()):
            raise MessageError(_TWO_PLACES)
        return JsonMessage(sdmx_json_format(_schema_in(meta), schema, claimed), meta, lists, budget, schema)
    _refuse_errors(top)
    _refuse_data(top)
    is_fusion = any(
        (name in CLASSES and CLASSES[name].is_maintainable) or _is_of_fusion(name, raw) for name, raw in top.items()
    )
    if not is_fusion and any(name.lower() in CLASS_OF_COLLECTION for name in top):
        # The object "data" around the lists is missing here; members that are not lists are ignored.
        lists = {name: raw for name, raw in top.items() if _is_list(name, raw)}
        return JsonMessage(sdmx_json_format(_schema_in(meta), top.get("$schema"), claimed), meta, lists, budget)
    if is_fusion or (not top and not is_null(meta)) or claimed is Format.FUSION_JSON:
        return JsonMessage(Format.FUSION_JSON, meta, _lists_in(top), budget)
    raise _other_content(top)


def _other_content(members: dict[str, msgspec.Raw]) -> MessageError:
    keys = ", ".join(repr(name[:40]) for name in list(members)[:5])
    return MessageError(
        f"reading a JSON message: it contains neither Fusion-JSON nor SDMX-JSON structures; its keys are {keys}"
    )


def _lists_in(members: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """Return the lists of artefacts: the members of known classes, and all other lists except for extensions (``x-``).

    Raises MessageError if other members are next to neither a known class nor a list with content: such an object
    is the error of a service, a message of data, or unrelated.
    """
    found = {name: raw for name, raw in members.items() if _is_known(name) or _is_list(name, raw)}
    is_all = all(name in found or name.startswith(_EXTENSION) for name in members)
    if not is_all and not any(_is_known(name) or _is_filled(raw) for name, raw in found.items()):
        raise _other_content(members)
    return found


def _is_known(name: str) -> bool:
    return name in CLASSES or name == WITHOUT_URN or name.lower() in CLASS_OF_COLLECTION


def _is_list(name: str, raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:1]) in {b"[", b"n"} and not name.startswith(_EXTENSION)


def _is_filled(raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:1]) == b"[" and _EMPTY_LIST(memoryview(raw)) is None


def _is_of_fusion(name: str, raw: msgspec.Raw) -> bool:
    """Return True if a list holds artefacts in the form of Fusion-JSON, possibly of a vendor's class."""
    start = bytes(memoryview(raw)[:4096])
    return start[:1] == b"[" and b'"agencyId"' in start and not name.startswith(_EXTENSION)


def _refuse_data(top: dict[str, msgspec.Raw]) -> None:
    """Raise MessageError if an object ``data`` with content is next to lists: its artefacts would be lost."""
    data = top.get("data", msgspec.Raw())
    if bytes(memoryview(data)[:1]) == b"{" and members_of(data, "the data of a JSON message"):
        raise MessageError(_TWO_PLACES)


def _refuse_errors(top: dict[str, msgspec.Raw]) -> None:
    """Raise MessageError if the message is an error response of a registry (field guide, "errors")."""
    errors = top.get("errors")
    if errors is not None and not is_null(errors) and _EMPTY_LIST(memoryview(errors)) is None:
        stated = bytes(errors)[:300].decode(errors="replace")
        raise MessageError(f"reading a JSON message: it contains no structures but the error of a registry: {stated}")


@lru_cache(maxsize=64)
def _format_of_schema(address: str) -> Format | None:
    return of_json_schema(address)


def sdmx_json_format(in_meta: str | None, schema: msgspec.Raw | None, claimed: Format | None) -> Format:
    """Return the edition of SDMX-JSON: by the schema in the header, else ``$schema``, else as claimed, else 2.0."""
    found = _format_of_schema(in_meta[:300]) if in_meta else None
    if found is None and schema is not None:
        found = _format_of_schema(bytes(schema)[:300].decode("latin-1"))
    if found is None and claimed is not None and claimed.name.startswith("SDMX_JSON"):
        found = claimed
    return found or Format.SDMX_JSON_2_0


def _schema_in(meta: msgspec.Raw | None) -> str | None:
    """Return the address of the JSON schema in a header. Other errors in the header are left to its reader."""
    try:
        return None if meta is None else _META(meta).schema
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
