"""What a version holds that may have been meant, for the error where an artefact is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

from kafka_replica.sdmx.urn import Urn

_SHOWN: Final = 3
_VERSIONS: Final = 5
_COMPARED: Final = 20_000  # ids; comparing more would take longer than a person waits


def nearby(urns: Iterable[Urn], wanted: Urn, *classes: str) -> str:
    """Return a clause that names what may have been meant: other versions, agencies or classes, or a similar id.

    It looks at all that there is, so it is for what a person has written, not for references of artefacts.

    Args:
        urns: what there is.
        wanted: what is not there.
        classes: the classes that would do as well; any class if none is given.
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
    return "nothing here has this id"
