"""The requests of the tests, in both versions of the API.

The kit requests 1.4 only; the same tests are requested in 2.x, whose names of resources and wildcards are others.
"""

from __future__ import annotations

from typing import Final

from support.conformance.kit_tests import KitTest
from support.conformance.structure_checks import Picked

NAMES_IN_2: Final = {"contentconstraint": "dataconstraint"}
NOT_IN_2: Final = frozenset({
    "hierarchicalcodelist", "organisationscheme", "structureset", "attachmentconstraint", "allowedconstraint",
    "actualconstraint", "structure",
})  # fmt: skip
"""The resources that 2.x does not have, or that the kit has no class for."""


def address_in_1(test: KitTest, picked: Picked | None) -> str:
    """Return the path and query of 1.x; what is the default is left out, as the kit does."""
    agency, id_, version, items = _parts(test, picked)
    segments = [items, version if version != "latest" or items else "", id_, agency]
    while segments and not segments[0]:
        segments.pop(0)
    return "/".join([test.resource, *reversed(segments)]) + _query(test.detail, test.references)


def address_in_2(test: KitTest, picked: Picked | None) -> str:
    """Return the path and query of 2.x."""
    agency, id_, version, items = _parts(test, picked)
    path = ["structure", NAMES_IN_2.get(test.resource, test.resource)]
    path += ["*" if one == "all" else one for one in (agency, id_, "~" if version == "latest" else version)]
    path += [items.replace("+", ",")] if items else []
    return "/".join(path) + _query(test.detail, NAMES_IN_2.get(test.references, test.references))


def _parts(test: KitTest, picked: Picked | None) -> tuple[str, str, str, str]:
    own = None if picked is None else picked.reference
    agency = test.agency or ("" if own is None else own.agency)
    id_ = test.id or ("" if own is None else own.id)
    version = test.version or ("" if own is None else own.version)
    return agency, id_, version, "" if picked is None else "+".join(picked.items)


def _query(detail: str, references: str) -> str:
    given = [f"detail={detail}"] if detail != "full" else []
    given += [f"references={references}"] if references != "none" else []
    return f"?{'&'.join(given)}" if given else ""
