"""Read librdkafka's properties by the rules of its own parser: aliases, empty values, booleans, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_replica.errors import ConfigurationError

_ALIASES = {
    "metadata.broker.list": "bootstrap.servers",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
}
_TRUE, _FALSE = frozenset({"true", "t", "1"}), frozenset({"false", "f", "0"})

THE_OTHER_WAY = 'use boundaries="quiescence", which reads with the confluent-kafka consumer'


def refused(name: str, reason: str) -> ConfigurationError:
    """Return the error for a property that librdkafka supports but the marker reader cannot honour."""
    return ConfigurationError(
        f"{name} cannot be honoured when markers are read: {reason}; leave it out or {THE_OTHER_WAY}"
    )


def wrong(name: str, reason: str) -> ConfigurationError:
    """Return the error for a property whose value cannot work."""
    return ConfigurationError(f"{name} {reason}")


class Properties:
    """The given properties. If a property has two names, the later value counts; empty values count as absent."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._given: dict[str, Any] = {}
        self._written: dict[str, str] = {}
        for written, value in config.items():
            name = _ALIASES.get(written, written)
            self._given[name], self._written[name] = value, written

    def names(self, prefix: str) -> list[str]:
        """Return the names, as the user wrote them, of properties with this prefix that have a value."""
        return [written for name, written in self._written.items() if name.startswith(prefix) and self.has(name)]

    def written(self, name: str) -> str:
        """Return the name as the user wrote it."""
        return self._written.get(name, name)

    def has(self, name: str) -> bool:
        """Return whether the property has a value."""
        value = self._given.get(name)
        return value is not None and value != ""

    def object(self, name: str) -> Any:
        """Return the value unchanged, such as a callback; None if absent."""
        return self._given.get(name)

    def text(self, name: str) -> str | None:
        """Return the value as text; None if absent."""
        return str(self._given[name]) if self.has(name) else None

    def flag(self, name: str, *, default: bool) -> bool:
        """Return the value as a boolean.

        Raises:
            ConfigurationError: the value is not a boolean.
        """
        text = str(default if not self.has(name) else self._given[name]).lower()
        if text not in _TRUE | _FALSE:
            raise wrong(self.written(name), "has to be true or false")
        return text in _TRUE

    def number(self, name: str, default: int, low: int, high: int) -> int:
        """Return the value as a whole number.

        Raises:
            ConfigurationError: the value is not a number, or outside the range that librdkafka allows.
        """
        try:
            number = int(float(self._given[name])) if self.has(name) else default
        except (TypeError, ValueError, OverflowError):
            raise wrong(self.written(name), "has to be a whole number") from None
        if not low <= number <= high:
            raise wrong(self.written(name), f"is {number}; it has to be from {low} to {high}")
        return number

    def choice(self, name: str, default: str, allowed: Iterable[str]) -> str:
        """Return the value in lower case, after checking that it is allowed; the user may write it in any case.

        Raises:
            ConfigurationError: the value is not allowed.
        """
        word = (self.text(name) or default).strip().lower()
        if word not in (words := tuple(allowed)):
            raise wrong(self.written(name), f"is {word!r}; it has to be one of {', '.join(words)}")
        return word
