"""Search for structures by all their texts, within a limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import InternationalString, Structures, Urn
from kafka_replica.sdmx.base import Nameable
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.pages.folding import folded
from kafka_replica.server.pages.redaction import redacted
from kafka_replica.server.pages.search_index import SearchIndex
from kafka_replica.server.pages.texts import ArtefactText, texts_of

_MOST_WORDS: Final = 16
_SHOWN: Final = 3


class Match(NamedTuple):
    """A structure that matches, with the names to show: the usual one, and those that the words occur in."""

    urn: Urn
    names: tuple[tuple[str, str], ...]
    texts: tuple[ArtefactText, ...] = ()
    """Other texts that the words occur in, which are not in its reference and names; the first ones."""
    error: str | None = None
    """The reason why its record cannot be read."""


class Matches(NamedTuple):
    """The matches of a part of the structures, and the number of structures up to its end."""

    found: list[Match]
    end: int


def words_of(text: str) -> tuple[str, ...]:
    """Return the words to search for. Of a URN, everything after the class is searched for."""
    text = text.partition("=")[2] if text.startswith("urn:sdmx:") else text
    return tuple(folded(text).split()[:_MOST_WORDS])


def search(
    structures: Structures,
    index: SearchIndex,
    urns: Sequence[Urn],
    words: Sequence[str],
    start: int,
    size: int,
    limit_s: float,
    clock: Callable[[], float] = time.monotonic,
    *,
    names_only: bool = False,
) -> Matches:
    """Return structures in which all words occur, each word in any of their texts.

    The cost is one decoding for each structure whose text the index does not have yet. The search ends after the limit
    of time, but not before it has examined a structure; a further search continues at the end of this one.

    Args:
        structures: the version to search.
        index: the texts.
        urns: the structures to examine.
        words: the words, as :func:`words_of` returns them; without words all match.
        start: the number of structures at the beginning that are left out.
        size: the number of matches to return.
        limit_s: the limit of time.
        clock: returns the time in seconds.
        names_only: whether to search references and names of structures alone.
    """
    give_up_s = clock() + limit_s
    found: list[Match] = []
    end, parts = start, [word.encode("utf-8", "replace") for word in words]
    for urn in islice(urns, start, None):
        end += 1
        text = index.text(structures, urn) if parts else b""
        if all(part in text for part in parts):
            match = _match(structures, urn, words, names_only=names_only)
            if match is not None:
                found.append(match)
        if len(found) == size or clock() >= give_up_s:
            break
    return Matches(found, min(end, len(urns)))


def named(names: InternationalString) -> tuple[tuple[str, str], ...]:
    """Return the usual name of a structure with its language: the English one, else the first; empty if it has none."""
    usual = names.in_language()
    return next((((language, text),) for language, text in names.texts if text == usual), ())


def _match(structures: Structures, urn: Urn, words: Sequence[str], *, names_only: bool) -> Match | None:
    """Return what to show of a structure whose text has all words; None if the names should have them and do not."""
    reference = folded(urn.reference)
    try:
        artefact = structures.get(urn)
    except KafkaReplicaError as error:
        return Match(urn, (), error=redacted(str(error)))
    names = artefact.names if isinstance(artefact, Nameable) else InternationalString()
    texts = {(language, text): folded(text) for language, text in names.texts}
    others = [word for word in words if word not in reference and not any(word in text for text in texts.values())]
    if others and names_only:
        return None
    matching = (name for name, text in texts.items() if any(word in text for word in words))
    shown = tuple(dict.fromkeys((*named(names), *matching)))
    return Match(urn, shown, _places(artefact, others) if isinstance(artefact, Artefact) else ())


def _places(artefact: Artefact, words: Sequence[str]) -> tuple[ArtefactText, ...]:
    """Return the first texts, except names of the artefact itself, in which words occur: one for each word at least."""
    missing, found = set(words), list[ArtefactText]()
    for one in texts_of(artefact) if words else ():
        text = folded(one.text)
        new = [word for word in missing if word in text]
        if new or (len(found) < _SHOWN and any(word in text for word in words)):
            found.append(one)
            missing.difference_update(new)
        if not missing and len(found) >= _SHOWN:
            break
    return tuple(found)
