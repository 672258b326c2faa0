"""The wording of messages: counts with nouns, suggestions for misspelled words, shortened texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 record``, ``2,000 records``, ``0 entries``.

    Args:
        count: the count.
        singular: the noun in the singular, which may be several words; the last word takes the plural.
        plural: the plural of the noun, if it is irregular.
    """
    return f"{count:,} {singular if count == 1 else plural or plural_of(singular)}"


def plural_of(noun: str) -> str:
    """Return the regular plural of an English noun: ``records``, ``entries``, ``branches``."""
    if noun.endswith("y") and noun[-2:-1] not in set("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def singular_of(noun: str) -> str:
    """Return the singular of a plural, such as the name of a field: ``code``, ``category``, ``branch``."""
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-2] if noun.endswith(("ches", "shes", "sses", "xes")) else noun.removesuffix("s")


def did_you_mean(word: str, known: Iterable[str], count: int = 1) -> str:
    """Return ``; did you mean 'topic'?`` for a word that resembles a valid word, otherwise an empty text.

    The comparison ignores case.

    Args:
        word: the word that was written.
        known: the valid words.
        count: the maximum number of suggestions; the most similar comes first.
    """
    by_lower = {each.lower(): each for each in known}
    near = [repr(by_lower[each]) for each in get_close_matches(word.lower(), by_lower, count)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def reason_of(error: Exception) -> str:
    """Return the reason of an error, without the path in the text of an ``OSError``, which messages name already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def shortened(text: str, limit: int = 80) -> str:
    """Return a text of at most ``limit`` characters; a longer text is cut and ends in an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def encodable(text: str) -> str:
    """Return a text that UTF-8 can represent: halves of surrogate pairs become backslash escapes."""
    return text.encode(errors="backslashreplace").decode()


def abridged(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters; a longer one loses its middle, as reasons may be at its end."""
    if len(text) <= limit:
        return text
    end = limit // 3
    return f"{text[: limit - end - 3]} … {text[-end:]}"


def quoted(text: str, limit: int = 80) -> str:
    """Return a text on one line, shortened, in double quotes."""
    return json.dumps(shortened(text, limit), ensure_ascii=False)
