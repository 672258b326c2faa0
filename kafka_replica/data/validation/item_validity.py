"""The validity of codes and values: the periods outside of which data must not use them.

Source: Fusion Metadata Registry's annotation of an item, type FR_VALIDITY_PERIOD, whose title is ``FROM/TO``: two dates
or times in ISO 8601, each of which may be empty. The standard does not define a validity of codes. The validity of
lists and structures is compared with a date; if they are not valid on it, this is only noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Final, NamedTuple

from kafka_replica.data.validation.components import DescribedComponent
from kafka_replica.data.validation.model import Check
from kafka_replica.data.validation.predicates import condition_of
from kafka_replica.sdmx import ResolvedStructure, SdmxError, Structures, ValueList
from kafka_replica.sdmx.lookups.constraints.predicates import IsIn, Not, all_of
from kafka_replica.sdmx.lookups.constraints.selections import SelectionReader, overlaps
from kafka_replica.sdmx.lookups.effective_component import Enumeration
from kafka_replica.sdmx.model import Codelist
from kafka_replica.sdmx.values.periods import period

ANNOTATION: Final = "FR_VALIDITY_PERIOD"
_RULE: Final = "value-not-valid"
_offset = re.compile(r"([+-]\d\d)(\d\d)\Z")  # +0000, which Fusion Metadata Registry writes for +00:00


class Validity(NamedTuple):
    """The first and the last period in which a value may be used; None means no limit."""

    valid_from: str | None
    valid_to: str | None


class DatedValues(NamedTuple):
    """The values of a list that have a validity, and those whose annotation is not understood, with its title."""

    values: Mapping[Validity, frozenset[str]]
    unreadable: Mapping[str, str]


def dated_values(enumeration: Enumeration) -> DatedValues:
    """Return the values of a list by their validity."""
    found: dict[Validity, set[str]] = {}
    unreadable: dict[str, str] = {}
    items = enumeration.values if isinstance(enumeration, ValueList) else enumeration.items.values()
    for item in items:
        titles = [annotation.title or "" for annotation in item.annotations if annotation.type == ANNOTATION]
        if not titles:
            continue
        validity = _validity(titles[0])
        if validity is None or len(titles) > 1:
            unreadable[item.id] = " and ".join(titles)
        else:
            found.setdefault(validity, set()).add(item.id)
    return DatedValues({validity: frozenset(ids) for validity, ids in found.items()}, unreadable)


def _validity(title: str) -> Validity | None:
    start, slash, end = (_offset.sub(r"\1:\2", part.strip()) for part in title.partition("/"))
    if not slash or any(text and period(text) is None for text in (start, end)):
        return None
    return Validity(start or None, end or None)


class ItemValidity:
    """The checks of the validity of the values in a structure's lists.

    Args:
        structures: the look-ups of the version.
        resolved: the structure.
        as_of: the date for validity, if the structure has no time dimension.

    Attributes:
        notes: the requirements that cannot be checked, in words.
    """

    def __init__(self, structures: Structures, resolved: ResolvedStructure, as_of: date) -> None:
        self._structures = structures
        self._resolved = resolved
        self._as_of = as_of
        self.notes: list[str] = []

    def checks(self, components: Iterable[DescribedComponent], severities: Mapping[str, str]) -> Iterator[Check]:
        """Yield a check for each component with values that are not always valid."""
        reader = SelectionReader(self._resolved.used_components, self._as_of)
        described = list(components)
        marks = {one.column.id: one.marks for one in described}
        for one in described:
            enumeration = one.effective.enumeration
            if enumeration is None or not self._may_be_dated(enumeration):
                continue
            dated = dated_values(enumeration)
            id_, listed = one.column.id, enumeration.urn.reference
            self.notes += [
                f"{id_}: the validity of {value} of {listed}, because {ANNOTATION} {title!r} is not understood"
                for value, title in dated.unreadable.items()
            ]
            for validity, values in dated.values.items():
                valid = reader.valid(validity.valid_from, validity.valid_to)
                if not valid or _RULE not in severities:
                    continue
                broken = condition_of(all_of(IsIn(id_, values), Not(all_of(*valid))), marks)
                text = f"the value of {id_} is not valid at this time by {listed}: {ANNOTATION} {_shown(validity)}"
                yield Check(_RULE, severities[_RULE], id_, broken, text, str(enumeration.urn), (id_,))

    def lapsed(self) -> Iterator[str]:
        """Yield a sentence for the structure, its dataflow, and each list that is not valid on the date."""
        lists = (component.enumeration for component in self._resolved.used_components.values())
        seen = dict.fromkeys(
            list_.urn
            for list_ in (
                self._resolved.data_structure,
                self._resolved.dataflow,
                self._resolved.provision_agreement,
                *lists,
            )
            if list_ is not None and not self._is_valid(list_.valid_from, list_.valid_to)
        )
        for urn in seen:
            yield f"{urn}: it is not valid on {self._as_of}, by its own dates; data is checked against it nevertheless"

    def _is_valid(self, valid_from: str | None, valid_to: str | None) -> bool:
        start, end = (None if text is None else period(text) for text in (valid_from, valid_to))
        return overlaps(self._as_of, start, end)

    def _may_be_dated(self, enumeration: Enumeration) -> bool:
        """Return False if the stored message of a list certainly has no such annotation; no item is decoded."""
        if isinstance(enumeration, Codelist):
            try:
                own = self._structures.get(enumeration.urn)
            except SdmxError:
                return True
            if isinstance(own, Codelist) and own.extensions:
                return True  # inherited codes are in other messages
        try:
            stored = self._structures.stored_message(enumeration.urn)
        except SdmxError:
            return True
        if stored is None:
            return True
        data = stored.data
        is_plain = b"\0" not in data[:8] and b"\\u" not in data and b"&#" not in data
        return not is_plain or ANNOTATION.encode() in data


def _shown(validity: Validity) -> str:
    return f"{validity.valid_from or ''}/{validity.valid_to or ''}"
