"""Suggestions for the error about a missing artefact: similar artefacts in the version."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

from kafka_replica.sdmx.urns.urn import Urn

_SHOWN: Final = 3
_VERSIONS: Final = 5
_COMPARED: Final = 20_000  # ids; comparing more would take longer than a person wants to wait


def suggestion_for(urns: Iterable[Urn], wanted: Urn, *classes: str) -> str:
    """Return a clause that names likely alternatives: other versions, agencies or classes, or a similar id.

    The function scans all URNs, so it is meant for references typed by a person, not for references in artefacts.

    Args:
        urns: the URNs of the version.
        wanted: the URN that was not found.
        classes: the classes that are acceptable as well; any class if none is given.
    """
    known = list(urns)
    same_id = sorted(urn for urn in known if urn.id == wanted.id)
    same = [one.version for one in same_id if one.agency == wanted.agency and one.cls in {wanted.cls, *classes}]
    if same:
        return f"there is version {', '.join(same[:_VERSIONS])} of it"
    if same_id:
        return f"there is {', '.join(str(one) for one in same_id[:_SHOWN])}"
    by_id = {urn.id.lower(): urn for urn in known if not classes or urn.cls in classes}
    near = get_close_matches(wanted.id.lower(), list(islice(by_id, _COMPARED)), _SHOWN)
    if near:
        return f"did you mean {' or '.join(by_id[id_].reference for id_ in near)}?"
    return "no artefact has this id"
