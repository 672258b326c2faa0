"""JSON messages: parse the outermost levels, distinguish Fusion-JSON from SDMX-JSON, and split both.

Artefacts stay bytes: an artefact that is split off is, character by character, the text in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from typing import Final, NamedTuple, TypeVar

import msgspec

from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.json_shared import names
from kafka_replica.sdmx.formats.json_shared.literals import is_of_literal, with_texts
from kafka_replica.sdmx.formats.shared.reading.budget import Budget
from kafka_replica.sdmx.formats.shared.reading.collecting import (
    NO_IDENTITY,
    STRICT,
    ErrorCollector,
    Identity,
    unreadable,
)
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.formats.shared.reading.parse_lenient import parse_lenient
from kafka_replica.sdmx.messages.format import Format, of_json_schema
from kafka_replica.sdmx.messages.message import UnreadableArtefact
from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")


class _Identity(msgspec.Struct, rename={"agency": "agencyId", "agency_upper": "agencyID"}):
    """The fields that make up the URN of an artefact; Fusion-JSON writes agencyId, SDMX-JSON agencyID."""

    id: str | None = None
    agency: str | None = None
    agency_upper: str | None = None
    version: str | None = None
    urn: str | None = None


class _Link(msgspec.Struct):
    """A link."""

    rel: str | None = None
    urn: str | None = None


class _LinkedObject(msgspec.Struct):
    """An object with links."""

    links: list[_Link] | None = None


class _Meta(msgspec.Struct):
    """A header."""

    schema: str | None = None


class _Party(msgspec.Struct, frozen=True):
    """A sender."""

    id: str | None = None


class _Sent(msgspec.Struct):
    """A header with its id and its sender."""

    id: str | None = None
    sender: _Party = _Party()


class RawArtefact(NamedTuple):
    """An artefact as bytes: its URN, the name of its list, its JSON, and its position in the list, from 0."""

    urn: Urn
    collection: str
    raw: msgspec.Raw
    position: int

    def unreadable(self, reason: str) -> UnreadableArtefact:
        """Return the entry for the artefact in the list of errors."""
        place = f"{self.collection[:80]}[{self.position}]"
        return UnreadableArtefact(cls=self.urn.cls, id=self.urn.id, urn=self.urn, place=place, reason=reason)


class JsonMessage(NamedTuple):
    """The outermost levels of a message: format, header as bytes if any, its lists by name; ``$schema`` (2.1)."""

    format: Format
    meta: msgspec.Raw | None
    collections: dict[str, msgspec.Raw]
    budget: Budget
    schema: msgspec.Raw | None = None
    has_repeated: bool = False
    """True if a name is repeated in an object of an artefact; set only if errors are collected."""


def _plural(name: str) -> str:
    if name.endswith("y"):
        return name[:-1] + "ies"
    return name + ("es" if name.endswith("s") else "s")


def collection_of(class_: str) -> str:
    """Return the name of the list of a class in SDMX-JSON: Codelist -> codelists."""
    plural = _plural(class_)
    return plural[0].lower() + plural[1:]


_BY_COLLECTION: Final = {_plural(name).lower(): name for name, info in CLASSES.items() if info.is_maintainable}
FUSION_SETS: Final = "metadatasets"
"""The list of metadata sets in Fusion-JSON, the only list that is in an object "data"."""

WITHOUT_URN: Final = "availabilityConstraints"
"""The list of SDMX-JSON 2.1 whose members have no id and so are not artefacts."""

_OPENED: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_IDENTITY: Final = msgspec.json.Decoder(_Identity)
_META: Final = msgspec.json.Decoder(_Meta).decode
_PROVIDER: Final = msgspec.json.Decoder(str | None)
_SENDER: Final = msgspec.json.Decoder(_Sent)
_LINKS: Final = msgspec.json.Decoder(_LinkedObject)
_EMPTY_LIST: Final = re.compile(rb"\[\s*\]").match


def decoded(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw, what: str) -> T:
    """Decode the bytes. Raises MessageError with the place in ``what``."""
    try:
        return decoder.decode(data)
    except RecursionError:
        raise MessageError(f"reading {what}: it is nested too deep to be a structure message") from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise MessageError(f"reading {what}: {error}{_line(bytes(data), str(error))}") from None


_TEXT: Final = msgspec.json.Decoder(str)


def is_null(raw: msgspec.Raw | None) -> bool:
    """Return whether a member, as a decoder took it from its object, is null or missing."""
    return raw is None or bytes(memoryview(raw)[:1]) == b"n"


def scalar_text(written: msgspec.Raw, what: str) -> str:
    """Return a text, or any other value as written, without whitespace: ``1.10`` stays ``1.10``.

    Raises MessageError.
    """
    data = bytes(written).strip()
    if data.startswith((b"{", b"[")):
        return msgspec.json.format(data, indent=-1).decode()
    return decoded(_TEXT, data, what) if data.startswith(b'"') else data.decode()


def decoded_artefact(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw, what: str) -> T:
    """Decode as ``decoded``; numbers and booleans where a text is expected become texts, as written."""
    try:
        return decoded(decoder, data, what)
    except MessageError as error:
        if not is_of_literal(str(error)):
            raise
        try:
            mended = with_texts(bytes(data), decoder.type)
        except (ValueError, RecursionError):
            raise error from None
    return decoded(decoder, mended, what)


def decoded_header(
    decoder: msgspec.json.Decoder[T], meta: msgspec.Raw, what: str, collector: ErrorCollector = STRICT
) -> T:
    """Decode a header without its members of a wrong type.

    Raises MessageError if it is not an object, or if ``test`` has a wrong type, unless errors are collected: without
    it, a test message would look like any other.
    """
    try:
        return decoder.decode(meta)
    except msgspec.ValidationError:
        members = members_of(meta, what)
    needed = "" if collector.collects else "test"
    kept = {name: raw for name, raw in members.items() if name == needed or _fits(decoder, {name: raw})}
    return decoded(decoder, msgspec.json.encode(kept), what)


def _fits(decoder: msgspec.json.Decoder[T], member: dict[str, msgspec.Raw]) -> bool:
    try:
        decoder.decode(msgspec.json.encode(member))
    except msgspec.ValidationError:
        return False
    return True


def members_of(data: bytes | msgspec.Raw, what: str) -> dict[str, msgspec.Raw]:
    """Return the members of an object as written. Raises MessageError."""
    return decoded(_OPENED, data, what)


def _line(data: bytes, error: str) -> str:
    found = re.search(r"\(byte ([0-9]+)\)", error)
    if found is None:
        return ""
    line = data.count(b"\n", 0, int(found[1])) + 1
    return f", at line {line}"


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
    has_repeated = names.refuse_repeated_outside(data, collector)
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
        if any(name.lower() in _BY_COLLECTION and _is_filled(raw) for name, raw in top.items()):
            raise MessageError(_TWO_PLACES)
        return JsonMessage(sdmx_json_format(_schema_in(meta), schema, claimed), meta, lists, budget, schema)
    _refuse_errors(top)
    _refuse_data(top)
    is_fusion = any(
        (name in CLASSES and CLASSES[name].is_maintainable) or _is_of_fusion(name, raw) for name, raw in top.items()
    )
    if not is_fusion and any(name.lower() in _BY_COLLECTION for name in top):
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


_EXTENSION: Final = "x-"
_TWO_PLACES: Final = "reading a JSON message: it has lists of artefacts next to 'data'; put them into it"


def _is_known(name: str) -> bool:
    return name in CLASSES or name == WITHOUT_URN or name.lower() in _BY_COLLECTION


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


class _Reporting:
    """The header of a message, as far as metadata sets of 1.0 need it; it is read once, on first access."""

    def __init__(self, message: JsonMessage) -> None:
        self._message = message

    @cached_property
    def sent(self) -> _Sent:
        """The header. Raises MessageError if it is not an object."""
        meta = self._message.meta
        if meta is None or is_null(meta):
            return _Sent()
        return decoded_header(_SENDER, meta, f"the meta of {self._message.format.title}")

    @cached_property
    def only_id(self) -> str | None:
        """The id of the message if it has exactly one metadata set."""
        lists = [raw for name, raw in self._message.collections.items() if name.lower() == FUSION_SETS]
        held = [] if len(lists) != 1 else decoded(_LIST, lists[0], "metadata sets")
        return self.sent.id if len(held) == 1 else None

    def agency_of(self, members: dict[str, msgspec.Raw], what: str) -> str | None:
        """Return the agency of a set, as in SDMX-ML 2.1: its data provider, or the sender of the message.

        Raises MessageError.
        """
        provider = decoded(_PROVIDER, members["dataProvider"], what) if "dataProvider" in members else None
        if provider is None:
            return self.sent.sender.id
        try:
            urn = parse_lenient(provider)
        except UrnError as error:
            raise MessageError(f"reading {what}, its data provider: {error}") from None
        return (urn.item or urn.id).rpartition(".")[2]


def artefacts_of(message: JsonMessage, collector: ErrorCollector = STRICT) -> Iterator[RawArtefact]:
    """Yield each artefact in its order. Raises MessageError."""
    reporting = _Reporting(message)
    for collection, raw in message.collections.items():
        if collection == WITHOUT_URN or is_null(raw):
            continue
        name = collection[:80]
        class_ = _BY_COLLECTION.get(collection.lower(), collection)
        held: list[msgspec.Raw] | None = collector.attempt(
            partial(decoded, _LIST, raw, f"{name!r} of {message.format.title}"),
            partial(unreadable, class_, NO_IDENTITY, name),
        )
        for index, artefact in enumerate(held or ()):
            urn = collector.attempt(
                partial(_urn_of, artefact, class_, message, reporting, f"at {name}[{index}]"),
                partial(_unreadable, artefact, class_, f"{name}[{index}]"),
            )
            if urn is not None:
                yield RawArtefact(urn, collection, artefact, index)


def _urn_of(artefact: msgspec.Raw, class_: str, message: JsonMessage, reporting: _Reporting, where: str) -> Urn:
    what = f"{message.format.title} {where}"
    if message.has_repeated:
        names.refuse_repeated(bytes(artefact))
    members = members_of(artefact, what)
    own = _identity(members, what)
    agency, id_ = own.agency or own.agency_upper, own.id
    if class_ == "MetadataSet" and "reports" in members and message.format is not Format.FUSION_JSON:
        agency = agency or reporting.agency_of(members, what)
        id_ = id_ or reporting.only_id
    stated_urn = own.urn if class_ in CLASSES else own.urn or _self_urn(artefact)
    return artefact_urn(_class_of(class_, stated_urn), agency, id_, own.version, stated_urn, where)


def _unreadable(artefact: msgspec.Raw, class_: str, place: str, reason: str) -> UnreadableArtefact:
    """Return the entry in the list of errors for an artefact without a URN or with an uncertain URN."""
    try:
        stated = decoded(_IDENTITY, artefact, place)
    except MessageError:
        stated = _Identity()
    return unreadable(class_, Identity(stated.agency or stated.agency_upper, stated.id, stated.version), place, reason)


def _identity(members: dict[str, msgspec.Raw], what: str) -> _Identity:
    written = {name: members[name] for name in _Identity.__struct_encode_fields__ if name in members}
    return decoded_artefact(_IDENTITY, msgspec.json.encode(written), what)


def _self_urn(artefact: msgspec.Raw) -> str | None:
    """Return the URN in the link of an SDMX-JSON artefact to itself. Raises MessageError."""
    links: list[_Link] = decoded(_LINKS, artefact, "the links of an artefact").links or []
    return next((link.urn for link in links if link.rel == "self" and link.urn), None)


def _class_of(class_: str, stated_urn: str | None) -> str:
    # A vendor's list: its plural name gives no class, but its artefacts may state theirs.
    found = None if class_ in CLASSES or not stated_urn else re.search(r"\.([A-Za-z]+)=", stated_urn)
    return found[1] if found else class_


def message_of(message: JsonMessage, artefact: RawArtefact) -> bytes:
    """Return a message with this artefact alone and the same header."""
    held: dict[str, object] = {artefact.collection: [artefact.raw]}
    is_bare = message.format is Format.FUSION_JSON and artefact.collection != FUSION_SETS
    whole = held if is_bare else {"data": held}
    around = {"$schema": message.schema, "meta": message.meta}
    kept = {name: raw for name, raw in around.items() if raw is not None}
    return message.budget.spend(msgspec.json.encode(kept | whole))
