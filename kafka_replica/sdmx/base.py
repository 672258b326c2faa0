"""What artefacts, items and components share: URN, names, annotations, validity.

``gc=False`` here and in the rest of the model: nothing in it can be part of a cycle, and the collector would
walk every code of every list for nothing.
"""

from __future__ import annotations

import msgspec

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.urn import Urn


class Annotation(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One annotation; ``urls`` holds AnnotationURL by language, ``value`` AnnotationValue (3.x)."""

    id: str | None = None
    title: str | None = None
    type: str | None = None
    value: str | None = None
    urls: InternationalString = NO_TEXT
    text: InternationalString = NO_TEXT

    @property
    def url(self) -> str | None:
        """The URL without regard to language."""
        return self.urls.in_language()


class Link(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A link of 3.x."""

    rel: str | None = None
    url: str | None = None
    urn: str | None = None
    type: str | None = None


class Identifiable(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Anything with a URN: artefacts, items, components, groups."""

    urn: Urn
    annotations: tuple[Annotation, ...] = ()
    links: tuple[Link, ...] = ()
    uri: str | None = None

    @property
    def id(self) -> str:
        """Its own id: the last part of an item's path, or the id of the artefact."""
        return self.urn.item.rpartition(".")[2] if self.urn.item else self.urn.id


class Nameable(Identifiable, frozen=True, gc=False, kw_only=True):
    """Anything with names and descriptions."""

    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT

    def name(self, language: str | None = None) -> str | None:
        """The name in that language or None; without a language the English one, else the first."""
        return self.names.in_language(language)

    def description(self, language: str | None = None) -> str | None:
        """The description, chosen as :meth:`name` chooses."""
        return self.descriptions.in_language(language)


class Maintainable(Nameable, frozen=True, gc=False, kw_only=True):
    """Anything with an agency and a version."""

    valid_from: str | None = None
    valid_to: str | None = None
    is_final: bool = False
    is_partial: bool = False
    is_external_reference: bool = False
    service_url: str | None = None
    structure_url: str | None = None

    @property
    def agency(self) -> str:
        """Who maintains it."""
        return self.urn.agency

    @property
    def version(self) -> str:
        """Its version."""
        return self.urn.version

    @property
    def is_stub(self) -> bool:
        """Whether its content is elsewhere; asking for it then raises UnreadableContentError."""
        return False
