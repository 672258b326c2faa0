"""Which keys a replica keeps: decided on the key alone, before anything else is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.records import Key, key_bytes, key_text

__all__ = ["KeyFilter"]


class KeyFilter:
    """Says of a key whether it is kept. Filters are joined with ``|``, ``&`` and ``~``.

    ``Replica(..., key_filter=KeyFilter.pattern("*codelist*") | KeyFilter.prefix("urn:x:"))``

    Args:
        predicate: called with the key's bytes; it must say the same of the same key at any time.
        name: tells this filter from others, also after a restart: a store that was kept with a filter of another
            name is built anew. Change it with the predicate.

    Raises:
        ConfigurationError: it has no name.
    """

    __slots__ = ("_name", "_predicate")

    def __init__(self, predicate: Callable[[bytes], bool], name: str) -> None:
        if not name:
            raise ConfigurationError("a filter needs a name, by which a store knows that it is still the same one")
        self._predicate = predicate
        self._name = name

    @staticmethod
    def prefix(start: Key) -> KeyFilter:
        """Keys that begin so."""
        begin = key_bytes(start)
        return KeyFilter(lambda key: key.startswith(begin), f"prefix {begin!r}")

    @staticmethod
    def pattern(pattern: str) -> KeyFilter:
        """Keys that match a pattern as a whole: ``*`` any text, ``?`` a character, ``[ab]`` one of these."""
        return KeyFilter(_matcher(translate(pattern), pattern), f"pattern {pattern!r}")

    @staticmethod
    def regex(pattern: str) -> KeyFilter:
        """Keys in which a regular expression is found.

        Raises:
            ConfigurationError: it is none.
        """
        return KeyFilter(_matcher(pattern, pattern, anywhere=True), f"regex {pattern!r}")

    def __call__(self, key: bytes) -> bool:
        """Whether the key is kept.

        Raises:
            UsageError: the predicate failed.
        """
        try:
            return self._predicate(key)
        except UsageError:
            raise  # of a filter that this one is made of
        except Exception as error:
            raise UsageError(
                f"the filter {self._name} failed at key {key_text(key)}: {type(error).__name__}: {error}; it has to "
                "take any bytes"
            ) from error

    def __or__(self, other: KeyFilter) -> KeyFilter:
        return KeyFilter(lambda key: self(key) or other(key), f"({self} or {other})")

    def __and__(self, other: KeyFilter) -> KeyFilter:
        return KeyFilter(lambda key: self(key) and other(key), f"({self} and {other})")

    def __invert__(self) -> KeyFilter:
        return KeyFilter(lambda key: not self(key), f"not {self}")

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<KeyFilter {self._name}>"


def _matcher(regex: str, shown: str, *, anywhere: bool = False) -> Callable[[bytes], bool]:
    try:
        compiled = re.compile(regex)
    except re.error as error:
        raise ConfigurationError(f"{shown!r} is no pattern for keys: {error}") from error
    look = compiled.search if anywhere else compiled.match
    # Keys are bytes; what is not UTF-8 keeps its place and matches no letter.
    return lambda key: look(key.decode(errors="surrogateescape")) is not None
