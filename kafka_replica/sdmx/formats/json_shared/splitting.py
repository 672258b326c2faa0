"""Split JSON messages: the artefacts in the lists of a message, their URNs, and a message for each.

Artefacts stay bytes: an artefact that is split off is, character by character, the text in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Final, NamedTuple

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.json_shared import repeated_names
from kafka_replica.sdmx.formats.json_shared.collection_names import CLASS_OF_COLLECTION, FUSION_SETS, WITHOUT_URN
from kafka_replica.sdmx.formats.json_shared.format_detection import JsonMessage
from kafka_replica.sdmx.formats.json_shared.parsing import (
    decoded,
    decoded_artefact,
    decoded_header,
    is_null,
    members_of,
)
from kafka_replica.sdmx.formats.shared.reading.error_collector import (
    NO_IDENTITY,
    STRICT,
    ErrorCollector,
    Identity,
    unreadable,
)
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.formats.shared.reading.lenient_urns import parse_lenient
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import UnreadableArtefact
from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.sdmx.urns.urn import Urn


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


_LIST: Final = json_decoder(list[msgspec.Raw])
_IDENTITY: Final = json_decoder(_Identity)
_PROVIDER: Final = json_decoder(str | None)
_SENDER: Final = json_decoder(_Sent)
_LINKS: Final = json_decoder(_LinkedObject)


def artefacts_of(message: JsonMessage, collector: ErrorCollector = STRICT) -> Iterator[RawArtefact]:
    """Yield each artefact in its order. Raises MessageError."""
    reporting = _Reporting(message)
    for collection, raw in message.collections.items():
        if collection == WITHOUT_URN or is_null(raw):
            continue
        name = collection[:80]
        class_ = CLASS_OF_COLLECTION.get(collection.lower(), collection)
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


def message_of(message: JsonMessage, artefact: RawArtefact) -> bytes:
    """Return a message with this artefact alone and the same header."""
    held: dict[str, object] = {artefact.collection: [artefact.raw]}
    is_bare = message.format is Format.FUSION_JSON and artefact.collection != FUSION_SETS
    whole = held if is_bare else {"data": held}
    around = {"$schema": message.schema, "meta": message.meta}
    kept = {name: raw for name, raw in around.items() if raw is not None}
    return message.budget.spend(msgspec.json.encode(kept | whole))


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


def _urn_of(artefact: msgspec.Raw, class_: str, message: JsonMessage, reporting: _Reporting, where: str) -> Urn:
    what = f"{message.format.title} {where}"
    if message.has_repeated:
        repeated_names.refuse_repeated(bytes(artefact))
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
