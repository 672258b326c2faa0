"""Search for structures by their ids and names, within a limit of time."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import InternationalString, Structures, Urn
from kafka_replica.sdmx.base import Nameable
from kafka_replica.server.pages.redaction import redacted

_MOST_WORDS: Final = 16


class Match(NamedTuple):
    """A structure that matches, with the names to show: the usual one, and those that the words occur in."""

    urn: Urn
    names: tuple[tuple[str, str], ...]
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


def folded(text: str) -> str:
    """Return a text without differences of case, accents and width."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).casefold()


def search(
    structures: Structures,
    urns: Sequence[Urn],
    words: Sequence[str],
    start: int,
    size: int,
    limit_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> Matches:
    """Return structures in whose reference or names all words occur, each word in any of them.

    The cost is one decoding for each structure whose message is not decoded yet. The search ends after the limit of
    time, but not before it has examined a structure; a further search continues at the end of this one.

    Args:
        structures: the version to search.
        urns: the structures to examine.
        words: the words, as :func:`words_of` returns them; without words all match.
        start: the number of structures at the beginning that are left out.
        size: the number of matches to return.
        limit_s: the limit of time.
        clock: returns the time in seconds.
    """
    give_up_s = clock() + limit_s
    found: list[Match] = []
    end = start
    for urn in urns[start:]:
        end += 1
        match = _match(structures, urn, words)
        if match is not None:
            found.append(match)
        if len(found) == size or clock() >= give_up_s:
            break
    return Matches(found, min(end, len(urns)))


def named(names: InternationalString) -> tuple[tuple[str, str], ...]:
    """Return the usual name of a structure with its language: the English one, else the first; empty if it has none."""
    usual = names.in_language()
    return next((((language, text),) for language, text in names.texts if text == usual), ())


def _match(structures: Structures, urn: Urn, words: Sequence[str]) -> Match | None:
    reference = folded(urn.reference)
    try:
        artefact = structures.get(urn)
    except KafkaReplicaError as error:
        return Match(urn, (), redacted(str(error))) if all(word in reference for word in words) else None
    names = artefact.names if isinstance(artefact, Nameable) else InternationalString()
    texts = {(language, text): folded(text) for language, text in names.texts}
    if not all(word in reference or any(word in text for text in texts.values()) for word in words):
        return None
    matching = (name for name, text in texts.items() if any(word in text for word in words))
    return Match(urn, tuple(dict.fromkeys((*named(names), *matching))))
