"""Recognition of the most frequent queries, for one artefact by its full name, in a single step.

The parser of queries would return the same result, but takes several times as long. It handles all other paths.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from kafka_replica.sdmx import Urn
from kafka_replica.server.rest.grammar import AGENCY, RESOURCE_ID, Api, resources

_MAX_LENGTH: Final = 1_024
_named = re.compile(
    rf"(?:(?:v2/)?(structure)/|(?:v1/)?)([a-z]+)/(?!all/)({AGENCY.form.pattern})/(?!all/)({RESOURCE_ID.form.pattern})"
    r"/([0-9]+(?:\.[0-9]+)*(?:-[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*)?)"
).fullmatch


class NamedArtefact(NamedTuple):
    """An artefact that a path names; it may be of several classes, so that several URNs are possible."""

    api: Api
    urns: tuple[Urn, ...]


def named_artefact(path: str) -> NamedArtefact | None:
    """Return the artefact that a path without parameters names; None if the path needs the parser.

    Args:
        path: as in a ``RestRequest``.
    """
    found = _named(path) if len(path) <= _MAX_LENGTH else None
    if found is None:
        return None
    structure, resource, agency, id_, version = found.groups()
    api = Api.V1 if structure is None else Api.V2
    classes = _classes(api).get(resource)
    if classes is None:
        return None
    return NamedArtefact(api, tuple([Urn(package, cls, agency, id_, version) for package, cls in classes]))


@cache
def _classes(api: Api) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the packages and classes of each resource that is not restricted to a role."""
    return {
        name: tuple((Urn.of(cls, "A", "A", "1").package, cls) for cls in row.classes)
        for name, row in resources(api).items()
        if row.role is None
    }
