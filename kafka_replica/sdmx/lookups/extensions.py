"""Codelists that extend others (SDMX 3.x), with the inherited codes.

Source: SDMX 3.1 Section 6, "Codelist extension and discriminated unions"; SDMXStructureCodelist.xsd,
``CodelistExtensionType``. If two codes have the same id, the code of the later extension wins, and the list's own code
wins over all extensions. A selection names codes by their ids in the extended list; the prefix is added when they are
inherited. A code keeps its parent if the parent was inherited from the same list and was not overridden; otherwise it
has no parent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from kafka_replica.sdmx.containers import LazyItems, numbered, stub_error
from kafka_replica.sdmx.errors import ExtensionError, SdmxError, UrnError
from kafka_replica.sdmx.lookups.code_selection import selected_codes
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.model import Code, Codelist, CodelistExtension
from kafka_replica.sdmx.urns.urn import Urn

MAX_CODES: Final = 2_000_000
"""The maximum number of codes in an expanded list: repeated doubling by extensions would exhaust the memory."""

MAX_DEPTH: Final = 50
"""The maximum length of a chain of extended lists."""

_OWN: Final = -1


class _InheritedList(NamedTuple):
    """A list that codes are inherited from, and the prefix for their ids."""

    codelist: Codelist
    prefix: str


class _Origin(NamedTuple):
    """The origin of a code: the number of the source, or -1 for the list itself; and the code's id there."""

    source: int
    id: str


def expand(codelist: Codelist, look_up: Callable[[Urn], Codelist]) -> Codelist:
    """Return the codelist with all inherited codes and without extensions; the same object if it has no extensions.

    Inherited codes come first, list by list, then the list's own codes. Inherited codes have URNs in this list, and are
    created on first access. The result is partial if any of the lists it inherits from is partial.

    Args:
        codelist: the list; not changed.
        look_up: returns the codelist for a URN in an extension.

    Raises:
        ExtensionError: the extensions form a cycle, or produce invalid ids, or too many codes.
        UnreadableContentError: the list, or a list it extends, is a stub or of a class without codes.
        SdmxError: an error raised by ``look_up``, with the extension named.
    """
    return _Expansion(look_up).of(codelist, ())


class _Expansion:
    """A single expansion; a list that occurs twice is expanded once."""

    def __init__(self, look_up: Callable[[Urn], Codelist]) -> None:
        self._look_up = look_up
        self._done: dict[Urn, Codelist] = {}

    def of(self, codelist: Codelist, path: tuple[Urn, ...]) -> Codelist:
        if codelist.is_stub:
            raise stub_error(codelist.urn)
        if not codelist.extensions:
            return codelist
        if codelist.urn in self._done:
            return self._done[codelist.urn]
        path = (*path, codelist.urn)
        if len(path) > MAX_DEPTH:
            raise ExtensionError(f"{_doing(path[0])}: more than {MAX_DEPTH} lists extend each other; shorten the chain")
        made = self._done[codelist.urn] = _merged(codelist, self.sources(codelist, path))
        return made

    def sources(self, codelist: Codelist, path: tuple[Urn, ...]) -> list[_InheritedList]:
        """Return the lists that a codelist inherits from; ``path`` ends with the list itself."""
        return [self._source(extension, path) for extension in codelist.extensions]

    def _source(self, extension: CodelistExtension, path: tuple[Urn, ...]) -> _InheritedList:
        try:
            found = self._look_up(late_bound(extension.codelist, path[-1]))
            if found.is_stub:
                raise stub_error(found.urn)
        except SdmxError as error:
            raise type(error)(f"{_doing(path[-1])}: {error}") from error
        if found.urn in path:
            raise ExtensionError(
                f"{_doing(path[0])}: {found.urn} extends itself, by {' -> '.join(one.reference for one in path)}; "
                "publish one of these lists without the extension"
            )
        return _InheritedList(self.of(found, path), extension.prefix or "")


def without_prefixes(codelist: Codelist, look_up: Callable[[Urn], Codelist]) -> dict[str, str]:
    """Return the codes that a list inherits with a prefix, mapped to their ids without the prefix.

    The list's own codes are not included, even if they begin with a prefix. Raises the errors of :func:`expanded`.
    """
    sources = _Expansion(look_up).sources(codelist, (codelist.urn,))
    return {
        id_: place.id
        for id_, place in _places(codelist, sources).items()
        if place.source != _OWN and sources[place.source].prefix
    }


def _places(codelist: Codelist, sources: list[_InheritedList]) -> dict[str, _Origin]:
    """Return the origin of each code in the expanded list."""
    places: dict[str, _Origin] = {}
    for number, (source, extension) in enumerate(zip(sources, codelist.extensions, strict=True)):
        for id_ in _chosen(extension, source.codelist):
            _put(places, source.prefix + id_, _Origin(number, id_), codelist)
    for id_ in codelist.codes:
        _put(places, id_, _Origin(_OWN, id_), codelist)
    return places


def _merged(codelist: Codelist, sources: list[_InheritedList]) -> Codelist:
    places = _places(codelist, sources)
    numbers, known = _numbered(places, codelist), list(places.values())
    return msgspec.structs.replace(
        codelist,
        codes=LazyItems(numbers, lambda id_, number: _code(codelist, sources, places, id_, known[number])),
        extensions=(),
        is_partial=codelist.is_partial or any(source.codelist.is_partial for source in sources),
    )


def _numbered(places: dict[str, _Origin], codelist: Codelist) -> dict[str, Any]:
    ids = list(places)
    found = numbered(ids)
    if found is None:
        try:
            for id_ in ids:
                codelist.urn.with_item("Code", id_)
        except UrnError as error:
            raise ExtensionError(f"{_doing(codelist.urn)}: {error}; correct the prefix of the extension") from None
    return found or {id_: number for number, id_ in enumerate(ids)}


def _put(places: dict[str, _Origin], id_: str, place: _Origin, codelist: Codelist) -> None:
    places.pop(id_, None)  # it takes the position of the code that wins
    places[id_] = place
    if len(places) > MAX_CODES:
        raise ExtensionError(f"{_doing(codelist.urn)}: it has more than {MAX_CODES} codes; extend it by fewer lists")


def _chosen(extension: CodelistExtension, codelist: Codelist) -> list[str]:
    ids = list(codelist.codes)
    if extension.inclusive:
        included = selected_codes(extension.inclusive, codelist.codes)
        ids = [id_ for id_ in ids if id_ in included]
    if extension.exclusive:
        excluded = selected_codes(extension.exclusive, codelist.codes)
        ids = [id_ for id_ in ids if id_ not in excluded]
    return ids


def _code(
    codelist: Codelist, sources: list[_InheritedList], places: dict[str, _Origin], id_: str, place: _Origin
) -> Code:
    if place.source == _OWN:
        return codelist.codes[place.id]
    source = sources[place.source]
    code = source.codelist.codes[place.id]
    parent = _parent_id(code, source, sources, places)
    return msgspec.structs.replace(code, urn=codelist.urn.with_item(code.urn.cls, id_), parent=parent)


def _parent_id(
    code: Code, source: _InheritedList, sources: list[_InheritedList], places: dict[str, _Origin]
) -> str | None:
    """Return the id of an inherited code's parent; None if the parent was not inherited from the same list."""
    if code.parent is None:
        return None
    id_ = source.prefix + code.parent
    place = places.get(id_)
    if place is None or place.source == _OWN or place.id != code.parent:
        return None
    # Several extensions may name the same list.
    return id_ if sources[place.source].codelist.urn == source.codelist.urn else None


def _doing(urn: Urn) -> str:
    return f"expanding {urn}"
