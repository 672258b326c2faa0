"""Parsed queries."""

from __future__ import annotations

from typing import NamedTuple

from kafka_replica.server.rest.grammar import Api, Detail, Resource
from kafka_replica.server.rest.version_expressions import VersionExpression


class StructureQuery(NamedTuple):
    """A query for structures; an empty tuple of agencies, ids or items selects all.

    In 2.x an item ``A,B`` means the value with this id, or else A and B, and ``all`` the item, or else all. If there is
    no value ``A,*``, this text means all values.
    """

    api: Api
    resource: Resource
    agencies: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    versions: tuple[VersionExpression, ...] = ()
    items: tuple[str, ...] = ()
    detail: Detail = Detail.FULL
    references: tuple[str, ...] = ()
    as_of: str | None = None
    format: str | None = None


class SchemaQuery(NamedTuple):
    """A query for the structures that determine which data is valid for an artefact, or for the XML schema of the data.

    ``dimension_at_observation``, ``explicit_measure`` and ``deletion`` affect only XML schemas.
    """

    api: Api
    context: Resource
    agency: str
    id: str
    version: VersionExpression
    as_of: str | None = None
    format: str | None = None
    dimension_at_observation: str | None = None
    explicit_measure: bool = False
    deletion: bool = False


Query = StructureQuery | SchemaQuery
