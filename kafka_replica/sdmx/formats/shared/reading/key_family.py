"""The class of a component of a key family, by its flags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kafka_replica.sdmx.model import Attribute, Dimension
from kafka_replica.sdmx.model.earlier_editions import KeyFamilyAttribute, KeyFamilyDimension

IMPLIED_ROLES: Final = {("FREQ", "Frequency"), ("TIME_FORMAT", "TimeFormat")}
"""Roles that the id itself implies, as since SDMX 2.1."""


def roles_of_dimension(
    id_: str, roles: Iterable[str], cross_sectional: Iterable[str] = ()
) -> tuple[type[Dimension], dict[str, Any]]:
    """Return the class for a dimension with these flags, and its arguments beyond those of every dimension."""
    arguments = _beyond(id_, roles, cross_sectional)
    return (KeyFamilyDimension if arguments else Dimension), arguments


def roles_of_attribute(
    id_: str, roles: Iterable[str], cross_sectional: Iterable[str] = ()
) -> tuple[type[Attribute], dict[str, Any]]:
    """Return the class for an attribute with these flags, and its arguments beyond those of every attribute."""
    arguments = _beyond(id_, roles, cross_sectional)
    return (KeyFamilyAttribute if arguments else Attribute), arguments


def _beyond(id_: str, roles: Iterable[str], cross_sectional: Iterable[str]) -> dict[str, Any]:
    own = tuple(role for role in roles if (id_, role) not in IMPLIED_ROLES)
    levels = tuple(cross_sectional)
    return {"roles": own, "cross_sectional": levels} if own or levels else {}
