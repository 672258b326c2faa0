"""Grant access rights (ACLs) on a broker with an authorizer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from support.broker.kafka_tools import quiet

Right: TypeAlias = tuple[ResourceType, str, AclOperation]
"""A kind of resource, its name or ``*``, and the operation that is allowed."""

EVERYONE = "User:*"
ANONYMOUS = "User:ANONYMOUS"
"""The user of a connection without authentication."""
_ANSWER_S = 20


def on_topic(topic: str, *operations: AclOperation) -> list[Right]:
    """Return the rights to these operations on a topic."""
    return [(ResourceType.TOPIC, topic, operation) for operation in operations]


def grant(bootstrap: str, rights: Iterable[Right], user: str = EVERYONE) -> None:
    """Grant rights to a user, and wait until the broker has accepted them."""
    admin = AdminClient(quiet({"bootstrap.servers": bootstrap}))  # it has to live until the answers come
    bindings = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, user, "*", operation, AclPermissionType.ALLOW)
        for kind, name, operation in rights
    ]
    for answer in admin.create_acls(bindings).values():
        answer.result(_ANSWER_S)
