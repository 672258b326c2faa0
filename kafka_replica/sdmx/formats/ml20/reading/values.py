"""Shared parts of artefacts and items of SDMX-ML 1.0 and 2.0: names, attributes, ids."""

from __future__ import annotations

import re
from typing import Any, Generic, TypeVar

from lxml import etree
from msgspec.structs import replace

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Child, address, boolean, named
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext
from kafka_replica.sdmx.formats.ml20.reading.references import codelist
from kafka_replica.sdmx.model.base import Nameable
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.urns.urn import Urn

_Item = TypeVar("_Item", bound=Nameable)
_Texts = dict[str, tuple[str, str]]
"""Language in lower case -> the language as written, and the text."""
_match_old_id = re.compile(r"[^\s()]{1,512}").fullmatch


def read_maintained(
    element: etree._Element, context: MessageContext, code_ids: list[str] | None = None
) -> tuple[dict[str, Any], list[Child]]:
    """Return the arguments that every artefact has, and its other children. Raises MessageError.

    If ``code_ids`` is given, the values of all <Code> are added to it, and only the first <Code> is among the children.
    """
    arguments, rest = named(element, context.names, code_ids, "value")
    is_external = boolean(element, "isExternalReference") or False
    arguments.update(
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        is_final=boolean(element, "isFinal") or False,
        is_external_reference=is_external,
        # According to the schema, the uri of a stub is the address of a structure message.
        structure_url=address(element, "uri") if is_external else None,
    )
    return arguments, rest


def unnamed(element: etree._Element, context: MessageContext) -> tuple[dict[str, Any], list[Child]]:
    """Return annotations and uri as arguments, and the other children, for objects without names since SDMX 2.1."""
    arguments, rest = named(element, context.names)
    arguments.pop("names", None)
    arguments.pop("descriptions", None)
    return arguments, rest


def id_of(element: etree._Element, taken: dict[str, Any], attribute: str = "id") -> str:
    """Return the id of an item, which must have a unique id. Raises MessageError."""
    # Real files have blanks around ids; the NMTOKENs of 1.0 may have them.
    found = element.get(attribute, "").strip()
    if not found:
        fail(element, f"it has no {attribute}")
    if found in taken:
        fail(element, f"the {attribute} {found[:80]!r} is duplicated, so its meaning is ambiguous")
    return found


class RepeatedItems(Generic[_Item]):
    """Items without a scheme of their own, which may be repeated, and differ: of concepts by the key family.

    The first one is kept, with the texts in languages that only later ones have. Source: the schemas of 1.0 and 2.0
    do not demand unique ids of standalone concepts, agencies and providers.
    """

    def __init__(self) -> None:
        self._first: dict[str, _Item] = {}
        self._texts: dict[str, tuple[_Texts, _Texts]] = {}  # names and descriptions of later, different items

    def add(self, id_: str, item: _Item) -> None:
        """Add an item."""
        if self._first.setdefault(id_, item) == item:
            return
        for known, texts in zip(self._texts.setdefault(id_, ({}, {})), (item.names, item.descriptions), strict=True):
            for language, text in texts.texts:
                known.setdefault(language.lower(), (language, text))

    def united(self) -> dict[str, _Item]:
        """Return the items by id."""
        for id_, (names, descriptions) in self._texts.items():
            first = self._first[id_]
            self._first[id_] = replace(
                first, names=_united(first.names, names), descriptions=_united(first.descriptions, descriptions)
            )
        return self._first


def _united(first: InternationalString, texts: _Texts) -> InternationalString:
    own = {language.lower() for language, _ in first.texts}
    added = [found for language, found in texts.items() if language not in own]
    return InternationalString([*first.texts, *added]) if added else first


def item_urn(scheme: Urn, class_: str, element: etree._Element, item: str) -> Urn:
    """Return the URN of an item. Raises MessageError with its line.

    Codes of 1.0 are NMTOKENs, those of 2.0 (and codes of hierarchies) may have a star, and real ids (of concepts too)
    have further characters: such a URN cannot be parsed back, but the item exists.
    """
    try:
        return scheme.with_item(class_, item)
    except UrnError as error:
        if class_ in {"Code", "Concept", "HierarchicalCode"} and _match_old_id(item):
            return Urn(scheme.package, class_, scheme.agency, scheme.id, scheme.version, item)
        fail(element, str(error))


def read_representation(
    element: etree._Element, rest: list[Child], context: MessageContext, agency: str
) -> Representation | None:
    """Return codelist and text format of a component, or None if it has neither. Raises MessageError."""
    enumeration = codelist(element, agency)
    formats = [context.edition.text_format(child, context.names) for kind, child in rest if kind == "TextFormat"]
    if enumeration is None and not formats:
        return None
    return Representation(enumeration=enumeration, format=formats[0] if formats else None)
