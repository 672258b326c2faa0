"""Names that derive from the name of a module: the producer in a topic's name, and the consumer group.

Source: FOLIO, "Apache Kafka Messaging System", Naming Convention, Kafka Topic and Consumer group.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kafka_replica.topics.errors import TopicNameError

STORAGE: Final = "-storage"
"""The suffix of a module's name that a topic's name omits."""
_VERSION: Final = re.compile(r"-\d+(\.\d+)+([.-][A-Za-z0-9.-]+)?$")
_PART: Final = re.compile(r"[A-Za-z0-9_-]+")
_GROUPS: Final = "cg"


class ConsumerGroup(NamedTuple):
    """The parts of a consumer group's name ``cg.MODULE`` or ``cg.TENANT.MODULE``."""

    module: str
    tenant: str | None = None


def producer_of(module: str) -> str:
    """Return the producer in the names of a module's topics: ``inventory`` for ``mod-inventory-storage-27.1.0``.

    The prefix ``mod-``, a version and the suffix ``-storage`` are omitted. So ``mod-inventory`` and
    ``mod-inventory-storage`` are the same producer, as the convention specifies.

    Raises:
        TopicNameError: the name is not a valid module name.
    """
    return _plain(module).removesuffix(STORAGE)


def consumer_group(module: str, tenant: str | None = None) -> str:
    """Return the consumer group of a module, ``cg.MODULE``, or of a module for one tenant, ``cg.TENANT.MODULE``.

    The prefix ``mod-`` and a version are omitted, but not ``-storage``: two modules must not share a group, because
    each would then receive only some of the records.

    Raises:
        TopicNameError: the name of the module or tenant is empty, or has characters other than letters, digits,
            underscores and hyphens.
    """
    parts = [_plain(module)] if tenant is None else [_checked(tenant, "tenant"), _plain(module)]
    return ".".join([_GROUPS, *parts])


def parse_consumer_group(group: str) -> ConsumerGroup:
    """Return the parts of a consumer group's name, the inverse of :func:`consumer_group`.

    Raises:
        TopicNameError: the name does not have the form that :func:`consumer_group` returns.
    """
    first, *parts = group.split(".")
    if first != _GROUPS or not 1 <= len(parts) <= 2 or not all(map(_PART.fullmatch, parts)):
        raise TopicNameError(f"consumer group {group!r} is not of the form {_GROUPS}.MODULE or {_GROUPS}.TENANT.MODULE")
    found = ConsumerGroup(parts[-1], *parts[:-1])
    if consumer_group(*found) != group:
        raise TopicNameError(f"consumer group {group!r} should be {consumer_group(*found)!r}, without mod- and version")
    return found


def _plain(module: str) -> str:
    name = _VERSION.sub("", module).removeprefix("mod-")
    if _VERSION.search(name) or name.startswith("mod-"):
        raise TopicNameError(f"module {module!r} has the prefix mod- or a version twice")
    return _checked(name, f"module {module!r}:")


def _checked(name: str, what: str) -> str:
    if not _PART.fullmatch(name):
        raise TopicNameError(f"{what} {name!r} must consist of letters, digits, underscores and hyphens")
    return name
