"""Search for structures by all their texts, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import InternationalString, Structures, Urn
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.model.base import Nameable
from kafka_replica.server.pages.folding import folded
from kafka_replica.server.pages.redaction import redacted
from kafka_replica.server.pages.search_index import SearchIndex
from kafka_replica.server.pages.texts import ArtefactText, texts_of

_MOST_WORDS: Final = 16
_SHOWN: Final = 3


class Match(NamedTuple):
    """A structure that matches, and its names to show: the usual name, and names in which words occur."""

    urn: Urn
    names: tuple[tuple[str, str], ...]
    texts: tuple[ArtefactText, ...] = ()
    """The first other texts in which words occur that are neither in its reference nor in its names."""
    error: str | None = None
    """The reason why its record cannot be read; None if it can."""


class Matches(NamedTuple):
    """The matches in a part of the structures, and the index of the structure after that part."""

    found: list[Match]
    end: int


def words_of(text: str) -> tuple[str, ...]:
    """Return the folded words of a search text; of a URN, only the reference after the class counts."""
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
    """Return the structures in which all words occur, each word in any of the structure's texts.

    The search decodes each structure whose text is not in the index. It ends at the time limit, but not before it has
    examined one structure; a further search can continue from ``Matches.end``.

    Args:
        structures: the version to search.
        index: the texts.
        urns: the structures to examine.
        words: the words, as :func:`words_of` returns them; without words, all structures match.
        start: the number of structures to skip.
        size: the maximum number of matches.
        limit_s: the time limit.
        clock: returns the time of a monotonic clock, in seconds.
        names_only: whether to search only the references and names of structures.
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
    """Return the usual name with its language: the English name, else the first name; empty without names."""
    usual = names.in_language()
    return next((((language, text),) for language, text in names.texts if text == usual), ())


def _match(structures: Structures, urn: Urn, words: Sequence[str], *, names_only: bool) -> Match | None:
    """Return the match of a structure whose text has all words; None if its names lack a word and must have all."""
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
    return Match(urn, shown, _texts_with(artefact, others) if isinstance(artefact, Artefact) else ())


def _texts_with(artefact: Artefact, words: Sequence[str]) -> tuple[ArtefactText, ...]:
    """Return the first texts in which words occur; each word occurs in at least one of them.

    The words occur in no name of the artefact itself, so that its names are not among the texts.
    """
    missing, found = set(words), list[ArtefactText]()
    for each in texts_of(artefact) if words else ():
        text = folded(each.text)
        new = [word for word in missing if word in text]
        if new or (len(found) < _SHOWN and any(word in text for word in words)):
            found.append(each)
            missing.difference_update(new)
        if not missing and len(found) >= _SHOWN:
            break
    return tuple(found)
