"""Conventions for the names of topics, such as ``ENV.tenant.producer.entity``.

The parts of a name are separated by dots, and contain none. So the number of parts shows whether a name has the
optional environment, and parsing a name that a convention has built returns the same parts.

Source: FOLIO, "Apache Kafka Messaging System", Naming Convention, Kafka Topic; tenant collections: FOLIO's RFC "Kafka
Topics per Tenant Collection".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Final

from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import ConfigurationError
from kafka_replica.topics.errors import TopicNameError
from kafka_replica.topics.modules import STORAGE, producer_of
from kafka_replica.topics.patterns import TopicPattern, pattern_of

ANY: Final = "*"
"""The value of a ``TopicName``'s part for which a pattern matches every text."""

_PART: Final = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST: Final = 249  # Kafka: org.apache.kafka.common.internals.Topic.MAX_NAME_LENGTH
_OPTIONAL: Final = re.compile(r"\[\{env\}\.\]")
_FIELD: Final = re.compile(r"\{(\w*)\}")
_COLLECTION: Final = re.compile(r"[A-Z][A-Z0-9]{0,30}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicName:
    """The parts of a topic's name; None if the convention has no such part, or the optional environment is absent."""

    env: str | None = None
    """The environment to which the topic belongs."""
    tenant: str | None = None
    """The tenant, or a tenant collection such as ``ALL``."""
    producer: str | None = None
    """The module that writes the topic, as returned by ``producer_of``."""
    entity: str
    """The entity, process or event that the records describe."""

    @property
    def is_tenant_collection(self) -> bool:
        """True if the topic has the records of several tenants, which an upper-case name such as ``ALL`` indicates."""
        return self.tenant is not None and _COLLECTION.fullmatch(self.tenant) is not None


_FIELDS: Final = tuple(field.name for field in fields(TopicName))


class TopicConvention:
    """A convention for the names of topics, which builds names, parses them, and returns patterns of them.

    Args:
        template: the parts, separated by dots: ``{env}``, ``{tenant}``, ``{producer}``, ``{entity}``, each at most
            once, or a fixed text. ``[{env}.]`` at the beginning makes the environment optional.
        tenants: a regular expression for the names of tenants; by default, every valid part of a name matches.

    Raises:
        ConfigurationError: the template cannot be read, has no ``{entity}``, or a regular expression is invalid.
    """

    __slots__ = ("_env_is_optional", "_parts", "_tenants", "template")

    def __init__(self, template: str = "[{env}.]{tenant}.{producer}.{entity}", *, tenants: str = _PART.pattern) -> None:
        self.template = template
        optional = _OPTIONAL.match(template)
        self._env_is_optional = optional is not None
        rest = template if optional is None else "{env}." + template[optional.end() :]
        self._parts = tuple(rest.split("."))
        for part in self._parts:
            _check_part(part, template)
        names = [part for part in self._parts if part.startswith("{")]
        if len(set(names)) < len(names) or "{entity}" not in names:
            raise ConfigurationError(f"the convention {template!r} must have {{entity}}, and each of its parts once")
        try:
            self._tenants = re.compile(tenants)
        except re.error as error:
            raise ConfigurationError(f"tenants={tenants!r} is not a regular expression: {error}") from error

    def __repr__(self) -> str:
        return f"<TopicConvention {self.template}>"

    def build(self, name: TopicName) -> str:
        """Return the name of a topic.

        Raises:
            TopicNameError: a part is missing, does not exist in the convention, or has an invalid value; or the name is
                too long.
        """
        for field in _FIELDS:
            if getattr(name, field) == ANY:
                raise TopicNameError(f"{field}={ANY!r} is for patterns; the name of a topic needs a text")
        built = ".".join(value for _, value in self._values(name))
        if len(built) > _LONGEST:
            raise TopicNameError(f"topic {built!r} has {len(built)} characters, and Kafka allows {_LONGEST}")
        return built

    def parse(self, topic: str) -> TopicName:
        """Return the parts of a topic's name, the inverse of :meth:`build`.

        Raises:
            TopicNameError: the name does not follow the convention.
        """
        values = topic.split(".")
        parts = self._parts[1:] if self._env_is_optional and len(values) < len(self._parts) else self._parts
        if len(values) != len(parts):
            raise TopicNameError(f"topic {topic!r} has {len(values)} parts, and the convention is {self.template}")
        found: dict[str, str] = {}
        for part, value in zip(parts, values, strict=True):
            if part.startswith("{"):
                found[part[1:-1]] = value
            elif part != value:
                raise TopicNameError(f"topic {topic!r} has {value!r} where the convention {self.template} has {part!r}")
        name = TopicName(**found)
        self.build(name)  # checks the parts
        return name

    def pattern(self, name: TopicName) -> TopicPattern:
        """Return the pattern of all names with these parts, where a part with the value ``ANY`` matches every text.

        An example is the pattern of all tenants' topics of an entity::

            FOLIO.pattern(TopicName(env="folio", tenant=ANY, producer="inventory", entity="item"))

        Raises:
            TopicNameError: as for :meth:`build`.
        """
        return pattern_of([self._rule(part) if value == ANY else value for part, value in self._values(name)])

    def all_of(self, env: str | None = None) -> TopicPattern:
        """Return the pattern of all topics of an environment; None for those without an environment.

        The pattern also matches names whose producer ends in ``-storage``, which :meth:`parse` rejects.
        """
        others = {part[1:-1]: ANY for part in self._parts if part.startswith("{") and part != "{env}"}
        return self.pattern(TopicName(env=env, **others))

    def _rule(self, part: str) -> re.Pattern[str]:
        return self._tenants if part == "{tenant}" else _PART

    def _values(self, name: TopicName) -> Iterator[tuple[str, str]]:
        for field in _FIELDS:
            if getattr(name, field) is not None and f"{{{field}}}" not in self._parts:
                raise TopicNameError(
                    f"the convention {self.template} has no place for {field}={getattr(name, field)!r}"
                )
        for part in self._parts:
            value: str | None = getattr(name, part[1:-1]) if part.startswith("{") else part
            if value is None and not (part == "{env}" and self._env_is_optional):
                raise TopicNameError(f"the convention {self.template} needs {part[1:-1]}=")
            if value is not None:
                if value not in {part, ANY}:
                    self._check(part, value)
                yield part, value

    def _check(self, part: str, value: str) -> None:
        shown = f"{part[1:-1]}={value!r}"
        if "." in value:
            raise TopicNameError(
                f"{shown} has a dot, which separates the parts of {self.template}: it would be read as several parts"
            )
        if not _PART.fullmatch(value):
            raise TopicNameError(f"{shown} must consist of letters, digits, underscores and hyphens")
        if not self._rule(part).fullmatch(value):
            raise TopicNameError(f"{shown} is not a tenant of the convention ({self._tenants.pattern})")
        if part == "{producer}" and value.endswith(STORAGE):
            raise TopicNameError(f"{shown} should be {producer_of(value)!r}: names of topics omit {STORAGE}")


def parse_topic(topic: str, conventions: Iterable[TopicConvention]) -> tuple[TopicConvention, TopicName]:
    """Return the only convention that a topic's name follows, and the parts of the name.

    Raises:
        TopicNameError: the name follows no convention, or several.
    """
    found, errors = [], []
    for convention in conventions:
        try:
            found.append((convention, convention.parse(topic)))
        except TopicNameError as error:
            errors.append(str(error))
    if not found:
        raise TopicNameError("; ".join(errors) or f"topic {topic!r}: no convention matches")
    if len(found) > 1:
        readings = "; ".join(f"{convention.template}: {name}" for convention, name in found)
        raise TopicNameError(f"topic {topic!r} is ambiguous, it follows several conventions: {readings}")
    return found[0]


def _check_part(part: str, template: str) -> None:
    field = _FIELD.fullmatch(part)
    if field is None and not _PART.fullmatch(part):
        raise ConfigurationError(
            f"the convention {template!r} has the part {part!r}; a part is one of {', '.join(map(_braced, _FIELDS))}, "
            "or a fixed text of letters, digits, underscores and hyphens"
        )
    if field is not None and field[1] not in _FIELDS:
        near = did_you_mean(field[1], _FIELDS)
        raise ConfigurationError(f"the convention {template!r} has the unknown part {part!r}{near}")


def _braced(field: str) -> str:
    return f"{{{field}}}"


_FOLIO_TENANTS: Final = rf"[a-z][a-z0-9_-]*|{_COLLECTION.pattern}"

FOLIO: Final = TopicConvention(tenants=_FOLIO_TENANTS)
"""``ENV.tenant.producer.entity``, with or without ENV: the topics of domain events of FOLIO's modules."""
FOLIO_DATA_IMPORT: Final = TopicConvention("[{env}.]Default.{tenant}.{entity}", tenants=_FOLIO_TENANTS)
"""``ENV.Default.tenant.event``: the topics of FOLIO's data import. No tenant is named ``Default``."""
