"""Declarations of topics that should exist, with their names by a convention, and their settings; read from TOML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kafka_replica.broker.topic_settings import COMPACTED_TOPIC
from kafka_replica.common.property_files import filled, flat, read_settings_file
from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import ConfigurationError
from kafka_replica.topics.errors import TopicNameError
from kafka_replica.topics.modules import producer_of
from kafka_replica.topics.naming import TopicConvention, TopicName
from kafka_replica.topics.patterns import TopicPattern

_SETTINGS: Final = ("partitions", "replication_factor", "settings")
_ENTRY: Final = ("module", "producer", "entity", "tenants", "convention", *_SETTINGS)
_TOP_LEVEL: Final = ("env", "tenants", "convention", "defaults", "topics")


@dataclass(frozen=True, slots=True)
class TopicDeclaration:
    """A topic that should exist."""

    name: str
    partitions: int = 1
    replication_factor: int | None = None
    """The number of replicas of each partition; None means 3, or the number of brokers if there are fewer."""
    settings: Mapping[str, str] = field(default_factory=lambda: COMPACTED_TOPIC)
    """The topic's own settings; for all others, the brokers' settings apply."""


@dataclass(frozen=True, slots=True)
class TopicDeclarations:
    """All topics of an environment that should exist.

    Raises:
        TopicNameError: two topics have the same name, or names that Kafka's metrics do not distinguish.
    """

    topics: tuple[TopicDeclaration, ...]
    patterns: tuple[TopicPattern, ...] = ()
    """The patterns of the conventions' topics, whether declared or not."""

    def __post_init__(self) -> None:
        check_collisions(topic.name for topic in self.topics)

    def obsolete(self, existing: Iterable[str]) -> list[str]:
        """Return the existing topics that follow one of the conventions and are not declared, sorted."""
        declared = {topic.name for topic in self.topics}
        return sorted(
            name for name in existing if name not in declared and any(each.matches(name) for each in self.patterns)
        )


def check_collisions(names: Iterable[str]) -> None:
    """Check that no two names are equal, or differ only in dots and underscores, which Kafka refuses.

    Source: Kafka, ``Topic.hasCollision``.

    Raises:
        TopicNameError: two names collide.
    """
    seen: dict[str, str] = {}
    for name in names:
        metric = name.replace(".", "_")
        if seen.get(metric) == name:
            raise TopicNameError(f"topic {name!r} is declared twice")
        if metric in seen:
            raise TopicNameError(
                f"topics {seen[metric]!r} and {name!r} differ in dots and underscores only, and Kafka accepts only one "
                "of them"
            )
        seen[metric] = name


def read_declarations(path: Path) -> TopicDeclarations:
    """Read declarations from a file in TOML; ``docs/topics.md`` describes it.

    ``${NAME}`` in a text is replaced by the value of the environment variable ``NAME``.

    Raises:
        ConfigurationError: the file cannot be read, or an entry is unknown, missing or of the wrong type.
        TopicNameError: a name does not follow its convention, or two names collide.
    """
    file = read_settings_file(path)
    if not file.is_toml:
        raise ConfigurationError(f"{path}: declarations of topics must be in TOML")
    table = _Table(filled(file.values, str(path)), str(path), _TOP_LEVEL)
    env, defaults = table.text("env"), table.table("defaults", _SETTINGS)
    topics: list[TopicDeclaration] = []
    patterns: dict[TopicPattern, None] = {}
    for number, entry in enumerate(table.tables("topics"), 1):
        of_topic = _Table(entry, f"{path}, topic {number}", _ENTRY)
        try:
            template = of_topic.text("convention") or table.text("convention")
            convention = TopicConvention() if template is None else TopicConvention(template)
            patterns[convention.all_of(env)] = None
            own = of_topic.texts("tenants")
            names = _names(of_topic, table.texts("tenants") if own is None else own, env)
            topics += (_declared(convention.build(name), of_topic, defaults) for name in names)
        except (ConfigurationError, TopicNameError) as error:
            raise type(error)(f"{of_topic.where}: {str(error).removeprefix(f'{of_topic.where}: ')}") from error
    return TopicDeclarations(tuple(topics), tuple(patterns))


def _names(entry: _Table, tenants: tuple[str, ...] | None, env: str | None) -> Iterator[TopicName]:
    module, producer, entity = entry.text("module"), entry.text("producer"), entry.text("entity")
    if entity is None:
        raise ConfigurationError(f"{entry.where}: entity is missing")
    if module is not None and producer is not None:
        raise ConfigurationError(f"{entry.where}: module and producer exclude each other")
    if module is not None:
        producer = producer_of(module)
    for tenant in tenants or (None,):
        yield TopicName(env=env, tenant=tenant, producer=producer, entity=entity)


def _declared(name: str, entry: _Table, defaults: _Table) -> TopicDeclaration:
    settings = {**(defaults.settings() or COMPACTED_TOPIC), **(entry.settings() or {})}
    copies = entry.number("replication_factor") or defaults.number("replication_factor")
    return TopicDeclaration(name, entry.number("partitions") or defaults.number("partitions") or 1, copies, settings)


class _Table:
    """A table of the file; unknown entries are rejected, and types are checked when entries are read."""

    def __init__(self, values: Mapping[str, Any], where: str, known: Iterable[str]) -> None:
        self._values, self.where = values, where
        for name in values:
            if name not in known:
                near = did_you_mean(name, known) or f"; known are {', '.join(known)}"
                raise ConfigurationError(f"{where}: there is no entry {name!r}{near}")

    def text(self, name: str) -> str | None:
        found: str | None = self._values.get(name)
        self._check(name, found is None or isinstance(found, str), "a text")
        return found

    def texts(self, name: str) -> tuple[str, ...] | None:
        given = self._values.get(name)
        is_right = given is None or (isinstance(given, tuple) and all(isinstance(each, str) for each in given))
        self._check(name, is_right, "a list of texts")
        found: tuple[str, ...] | None = given
        return found

    def number(self, name: str) -> int | None:
        found: int | None = self._values.get(name)
        self._check(name, found is None or (type(found) is int and found > 0), "a number above 0")
        return found

    def table(self, name: str, known: Iterable[str]) -> _Table:
        found: dict[str, Any] = self._values.get(name, {})
        self._check(name, isinstance(found, dict), "a table")
        return _Table(found, f"{self.where}, {name}", known)

    def tables(self, name: str) -> tuple[dict[str, Any], ...]:
        given = self._values.get(name, ())
        is_right = isinstance(given, tuple) and bool(given) and all(isinstance(each, dict) for each in given)
        self._check(name, is_right, f"at least one table [[{name}]]")
        found: tuple[dict[str, Any], ...] = given
        return found

    def settings(self) -> dict[str, str] | None:
        """Return the settings of a topic, as texts for Kafka; None if the table has no settings."""
        given: dict[str, Any] | None = self._values.get("settings")
        if given is None:
            return None
        self._check("settings", isinstance(given, dict), "a table")
        found: dict[str, str] = {}
        for name, value in flat(given).items():
            self._check(f"settings.{name}", isinstance(value, str | int | float), "a text, a number, true or false")
            found[name] = str(value).lower() if isinstance(value, bool) else str(value)
        return found

    def _check(self, name: str, is_right: bool, expected: str) -> None:
        if not is_right:
            raise ConfigurationError(f"{self.where}: {name} should be {expected}")
