"""Read the parts that many artefacts of SDMX-JSON share: texts, annotations, links, representations."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, international, written_texts
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.json_shared.parsing import scalar_text
from kafka_replica.sdmx.formats.json_shared.values import (
    cached_text_format,
    enumerated,
    occurs,
    read_facets,
    read_reference,
)
from kafka_replica.sdmx.formats.sdmx_json.values.wire import (
    Localised,
    WireAnnotable,
    WireAnnotation,
    WireFormat,
    WireLink,
    WireMaintainable,
    WireNameable,
    WireRepresentation,
    WireSentinel,
)
from kafka_replica.sdmx.model import Annotation, Link
from kafka_replica.sdmx.model.representation import Representation, SentinelValue, TextFormat
from kafka_replica.sdmx.urns.urn import Urn


class Context(NamedTuple):
    """The settings of a message for all its artefacts: the language of texts without a language."""

    language: str = "en"

    def texts(self, best: str | None, localised: Localised) -> InternationalString:
        """Return the texts in all languages.

        The text without a language (``name``) usually is one of the texts in the map (``names``); otherwise its
        language is the first language of the message (field guide, "contentLanguages"). If the map has another text in
        that language, this one is used, because a language has one text.
        """
        if localised:
            texts = localised.values()
            if None not in texts and (not best or best in texts):
                return written_texts(localised)
            pairs: tuple[Any, ...] = tuple([pair for pair in localised.items() if pair[1] is not None])
            if best and best not in texts and self.language.lower() not in [pair[0].lower() for pair in pairs]:
                pairs = (*pairs, (self.language, best))
            return international(pairs)
        return NO_TEXT if best is None else InternationalString([(self.language, best)])

    def annotated(self, wire: WireAnnotable) -> dict[str, Any]:
        """Return annotations, links and uri as arguments, without empty fields."""
        arguments: dict[str, Any] = {}
        if wire.annotations:
            arguments["annotations"] = tuple(self.annotation(annotation) for annotation in wire.annotations)
        if wire.links:
            self._add_links(arguments, wire.links, is_maintainable=isinstance(wire, WireMaintainable))
        return arguments

    def _add_links(self, arguments: dict[str, Any], wires: list[WireLink], *, is_maintainable: bool) -> None:
        """Add links and uri to the arguments.

        SDMX-JSON writes the attributes ``urn``, ``uri`` and ``structureURL`` (``href``) of SDMX-ML into the link
        "self". Registries put the address of the JSON schema into its ``uri``, which is unrelated to the artefact.
        """
        links = []
        for wire in wires:
            if wire.rel == "self" and (is_maintainable or wire.href is None):
                if wire.uri is not None and "uri" not in arguments and not _is_schema(wire.uri):
                    arguments["uri"] = wire.uri
            else:
                links.append(self._link(wire))
        if links:
            arguments["links"] = tuple(links)

    def _link(self, wire: WireLink) -> Link:
        return Link(
            rel=wire.rel,
            url=wire.href or wire.uri,
            urn=wire.urn,
            type=wire.type,
            uri=wire.uri if wire.href else None,
            hreflang=wire.hreflang,
            titles=self.texts(wire.title, wire.titles),
        )

    def annotation(self, wire: WireAnnotation) -> Annotation:
        """Build an annotation."""
        urls = [
            (link.hreflang or self.language, url)
            for link in wire.links or ()
            if (url := link.href or link.uri or link.urn)
        ]
        return Annotation(
            id=wire.id,
            title=wire.title,
            type=wire.type,
            value=wire.value,
            urls=InternationalString(urls) if urls else NO_TEXT,
            text=self.texts(wire.text, wire.texts),
        )

    def named(self, wire: WireNameable) -> dict[str, Any]:
        """Return names and descriptions in addition to ``annotated``."""
        arguments = self.annotated(wire) if wire.annotations or wire.links else {}
        if wire.names or wire.name is not None:
            arguments["names"] = self.texts(wire.name, wire.names)
        if wire.descriptions or wire.description is not None:
            arguments["descriptions"] = self.texts(wire.description, wire.descriptions)
        return arguments

    def maintained(self, wire: WireMaintainable) -> dict[str, Any]:
        """Return the arguments that every maintainable artefact has, except its URN."""
        arguments = self.named(wire)
        if wire.links:
            arguments["structure_url"] = next(
                (link.href for link in wire.links if link.rel == "self" and link.href), None
            )
        if wire.valid_from is not None:
            arguments["valid_from"] = wire.valid_from
        if wire.valid_to is not None:
            arguments["valid_to"] = wire.valid_to
        if wire.is_final:
            arguments["is_final"] = True
        if wire.is_partial:
            arguments["is_partial"] = True
        if wire.is_partial_language:
            arguments["is_partial_language"] = True
        if wire.is_external_reference:
            arguments["is_external_reference"] = True
        return arguments

    def representation(self, wire: WireRepresentation | None, where: Urn) -> Representation | None:
        """Build a representation; None if there is none, or an empty one. Raises MessageError."""
        if wire is None:
            return None
        format_ = _format_of(wire)
        if format_ is None and wire.enumeration and wire.min_occurs is None and wire.max_occurs is None:
            try:
                return enumerated(wire.enumeration)
            except UrnError:
                pass  # the error is raised below, with the place
        if format_ is None and wire.enumeration is None and wire.min_occurs is None and wire.max_occurs is None:
            return None
        return Representation(
            enumeration=read_reference(wire.enumeration, where),
            format=self.text_format(format_, where) if format_ else None,
            min_occurs=wire.min_occurs,
            max_occurs=occurs(wire.max_occurs, where),
        )

    def text_format(self, wire: WireFormat, where: Urn) -> TextFormat:
        """Return the facets of a text. Raises MessageError."""
        if wire.data_type is not None and len(wire.data_type) < _LONG_TYPE:
            alone, made = _of_type(wire.data_type)
            if wire == alone:
                return made
        return cached_text_format(wire, where, self._text_format, is_whole=wire.sentinel_values is None)

    def _text_format(self, wire: WireFormat, where: Urn) -> TextFormat:
        return TextFormat(
            text_type=wire.data_type or wire.text_type,
            is_sequence=wire.is_sequence,
            is_multi_lingual=wire.is_multi_lingual,
            sentinel_values=tuple(self._sentinel(sentinel_value) for sentinel_value in wire.sentinel_values or ()),
            **read_facets(wire, where),
        )

    def _sentinel(self, wire: WireSentinel) -> SentinelValue:
        return SentinelValue(
            value=scalar_text(wire.value, "a sentinel value"),
            names=self.texts(wire.name, wire.names),
            descriptions=self.texts(wire.description, wire.descriptions),
        )


def _format_of(wire: WireRepresentation) -> WireFormat | None:
    """Return the format of the codes if there is a codelist, otherwise that of the text; the schemas allow both."""
    text = wire.format or wire.text_format
    return (wire.enumeration_format or text) if wire.enumeration else (text or wire.enumeration_format)


_LONG_TYPE: Final = 64


@lru_cache(maxsize=64)
def _of_type(data_type: str) -> tuple[WireFormat, TextFormat]:
    """Return a format that has a type and nothing else, as written and as built."""
    return WireFormat(data_type=data_type), TextFormat(text_type=data_type)


context_of: Final = lru_cache(maxsize=64)(Context)
"""A cached constructor of ``Context``; the last few contexts are kept."""


@lru_cache(maxsize=64)
def _is_schema(uri: str) -> bool:
    return re.search("sdmx-json-(structure|metadata)-schema", uri[:1000]) is not None
