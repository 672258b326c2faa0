"""The codes of a list that ids, patterns and cascades select, for codelist extensions and constraints alike.

Source: SDMX 3.1 Section 6, "Codelist extension" and "Multiple Constraints"; SDMXStructureCodelist.xsd,
``MemberValueType``; SDMXCommon.xsd, ``CascadeSelectionType``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model import Code

_CASCADES: Final = {"true", "1", "excluderoot"}


class Selection(Protocol):
    """A selected value: ``MemberValue`` of an extension, ``SelectedValue`` of a constraint."""

    @property
    def value(self) -> str:
        """An id, or a pattern in which ``%`` matches any text, including the empty text."""
        ...

    @property
    def cascade_values(self) -> str | None:
        """``true``: with all codes below; ``excluderoot``: only the codes below; otherwise only the code itself."""
        ...


def selected_codes(
    selections: Iterable[Selection], codes: Items[Code], other_ids: Mapping[str, str] = MappingProxyType({})
) -> set[str]:
    """Return the ids of the codes that any of the selections matches; a selection without a match adds no code.

    Codes below a code are its children (by their ``parent``), their children, and so on. ``excluderoot`` leaves out all
    codes that its own value matches, also those that are children of other codes.

    Args:
        selections: the selected values.
        codes: the codes to select from.
        other_ids: ids of codes, each with a second id by which a value may select the code, too.
    """
    chosen: set[str] = set()
    for selection in selections:
        found = matching_ids(selection.value, codes)
        if other_ids:
            others = matching_ids(selection.value, set(other_ids.values()))
            found |= {id_ for id_, other in other_ids.items() if other in others}
        cascade = (selection.cascade_values or "").strip().lower()
        if cascade in _CASCADES:
            below = _below(found, codes.child_ids)
            found = below - found if cascade == "excluderoot" else below | found
        chosen |= found
    return chosen


def matching_ids(pattern: str, ids: Collection[str]) -> set[str]:
    """Return the ids that match a value, in which ``%`` matches any text."""
    if "%" not in pattern:
        return {pattern} if pattern in ids else set()
    first, *middle, last = pattern.split("%")
    return {id_ for id_ in ids if _fits(id_, first, middle, last)}


def _fits(text: str, first: str, middle: list[str], last: str) -> bool:
    # No regular expression: a pattern with many wildcards can backtrack for hours.
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _below(roots: set[str], children: Mapping[str, Sequence[str]]) -> set[str]:
    """Return all codes below the roots; a root is included only if it is below another root. Cycles are safe."""
    found: set[str] = set()
    stack = list(roots)
    while stack:
        below = [one for one in children.get(stack.pop(), ()) if one not in found]
        found.update(below)
        stack += below
    return found
