"""The filter that selects the keys a replica keeps, by the key alone, before a record is processed further."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.records import Key, key_bytes, key_text

__all__ = ["KeyFilter"]


class KeyFilter:
    """A filter that decides whether a key is kept. Filters are combined with ``|``, ``&`` and ``~``.

    ``Replica(..., key_filter=KeyFilter.pattern("*codelist*") | KeyFilter.prefix("urn:x:"))``

    Args:
        predicate: called with the key's bytes; it must always return the same result for the same key.
        name: identifies the filter, also after a restart: a store that was filled with a filter of another
            name is rebuilt. Change the name when you change the predicate.

    Raises:
        ConfigurationError: the name is empty.
    """

    __slots__ = ("_name", "_predicate")

    def __init__(self, predicate: Callable[[bytes], bool], name: str) -> None:
        if not name:
            raise ConfigurationError("a filter needs a name, by which a store recognises it")
        self._predicate = predicate
        self._name = name

    @staticmethod
    def prefix(start: Key) -> KeyFilter:
        """Return a filter for keys that begin with a prefix."""
        begin = key_bytes(start)
        return KeyFilter(lambda key: key.startswith(begin), f"prefix {begin!r}")

    @staticmethod
    def pattern(pattern: str) -> KeyFilter:
        """Return a filter for keys that match a pattern in full: ``*`` any text, ``?`` a character, ``[ab]`` a or b."""
        return KeyFilter(_matcher(translate(pattern), pattern), f"pattern {pattern!r}")

    @staticmethod
    def regex(pattern: str) -> KeyFilter:
        """Return a filter for keys that contain a match of a regular expression.

        Raises:
            ConfigurationError: the pattern is not a regular expression.
        """
        return KeyFilter(_matcher(pattern, pattern, anywhere=True), f"regex {pattern!r}")

    def __call__(self, key: bytes) -> bool:
        """Return whether the key is kept.

        Raises:
            UsageError: the predicate failed.
        """
        try:
            return self._predicate(key)
        except UsageError:
            raise  # raised by a filter that this one combines
        except Exception as error:
            raise UsageError(
                f"the filter {self._name} failed at key {key_text(key)}: {type(error).__name__}: {error}; it must "
                "accept any bytes"
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
        raise ConfigurationError(f"{shown!r} is not a pattern for keys: {error}") from error
    look = compiled.search if anywhere else compiled.match
    # Keys are bytes; a byte that is not UTF-8 becomes a character that matches no letter.
    return lambda key: look(key.decode(errors="surrogateescape")) is not None
