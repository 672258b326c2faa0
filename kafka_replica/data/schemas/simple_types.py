"""The simple types of a schema, which describe the values of each component."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from datetime import date
from typing import Final, NamedTuple

from kafka_replica.data.schemas.facets import enumerated_type, facet_element, is_xml, restricted_type, restriction_steps
from kafka_replica.data.schemas.xsd_types import FLOATING_TYPES, NARROWER_PERIODS, OBSERVATIONAL, STRING, XSD_TYPES
from kafka_replica.data.validation.components import describe_component
from kafka_replica.sdmx import EffectiveComponent, UnwritableError
from kafka_replica.sdmx.values.text_types import NOT_A_NUMBER, NOT_AVAILABLE

TIME_PERIOD: Final = "TIME_PERIOD"
_START_DAY: Final = "REPORTING_YEAR_START_DAY"
_is_name = re.compile(r"[A-Za-z_][A-Za-z0-9_\-.]*").fullmatch


class ValueType(NamedTuple):
    """The type of a component's values.

    Attributes:
        id: the id of the component, which is a valid name in XML.
        type: the name of the simple type of a value.
        in_languages: whether a value may be texts in several languages; None if the format does not state it.
        is_structured: whether a value is XHTML.
        min_occurs: the minimum number of values; None if it is not stated.
        max_occurs: the maximum number of values; None if there is no limit.
        is_mandatory: whether complete data must have a value.
    """

    id: str
    type: str
    in_languages: bool | None
    is_structured: bool
    min_occurs: int | None
    max_occurs: int | None
    is_mandatory: bool

    @property
    def is_attribute(self) -> bool:
        """Return whether an XML attribute can contain the value."""
        return not self.is_structured and self.max_occurs == 1

    @property
    def is_complex(self) -> bool:
        """Return whether the value may be in an element Comp (3.x)."""
        return not self.is_attribute or self.in_languages is not False


class SimpleTypes:
    """The simple types of a schema under construction.

    Args:
        is_3: whether the schema has version 3.x.
        as_of: the date on which constraints must be valid; None means today in UTC.
        taken: the names of other types, which a type with the id of a component as its name must not have; None if no
            type is named like that.

    Attributes:
        definitions: the XML text of each type.
        bases: the base of each type that restricts another type by facets.
    """

    def __init__(self, *, is_3: bool, as_of: date | None, taken: Container[str] | None = None) -> None:
        self._is_3, self._as_of, self._taken = is_3, as_of, taken
        self._names: dict[tuple[object, ...], str] = {}
        self.definitions: list[str] = []
        self.bases: dict[str, str] = {}
        self._written: set[str] = set()

    def value_type(self, effective: EffectiveComponent, id_: str | None = None) -> ValueType:
        """Return the type of a component's values, and define it if necessary.

        Raises:
            UnwritableError: the id of the component is not a valid name in XML.
        """
        name = name_in_xml(effective.id if id_ is None else id_, "component")
        found = describe_component(effective)
        is_text = effective.kind != "dimension" and effective.enumeration is None
        in_languages = found.format.is_multi_lingual if is_text and found.column.is_multi_lingual else False
        return ValueType(
            name,
            self._type(effective, name),
            in_languages,
            is_text and found.format.text_type == "XHTML",
            found.min_occurs,
            found.max_occurs,
            found.column.must_exist,
        )

    def _type(self, effective: EffectiveComponent, name: str) -> str:
        found = describe_component(effective)
        if name == _START_DAY and not self._is_3:
            return "xs:gMonthDay"  # the base schemas of 2.1 declare it
        marks = frozenset(mark for mark in found.marks if is_xml(mark) and (self._is_3 or mark != NOT_AVAILABLE))
        if name == TIME_PERIOD and not (found.column.is_time and effective.enumeration is None):
            return OBSERVATIONAL  # the base schemas declare it
        allowed = effective.allowed_ids(as_of=self._as_of)
        if allowed is not None:
            values = frozenset(one for one in allowed if is_xml(one)) | marks
            return self._defined(name, (values,), lambda: enumerated_type(sorted(values)))
        text_type = found.column.text_type
        base = XSD_TYPES.get(text_type, STRING)
        restrictions = list(restriction_steps(base, text_type, found.format))
        if name == TIME_PERIOD and text_type in NARROWER_PERIODS:
            # The base schemas declare it, so its type must restrict theirs.
            base, restrictions = OBSERVATIONAL, [facet_element("pattern", NARROWER_PERIODS[text_type]), *restrictions]
        if base == STRING and not restrictions:
            return base
        if not restrictions and base in FLOATING_TYPES:
            marks -= {NOT_A_NUMBER}  # a value of these types
        if not marks or name == TIME_PERIOD:
            return self._restricted(name, base, restrictions)
        values_and_marks = restricted_type(base, restrictions) + enumerated_type(sorted(marks))
        return self._defined(
            name, (base, *restrictions, marks),
            lambda: f"<xs:simpleType><xs:union>{values_and_marks}</xs:union></xs:simpleType>",
        )  # fmt: skip

    def _restricted(self, name: str, base: str, restrictions: list[str]) -> str:
        """Return a type with facets; it has the id of the component as its name if possible, as tools expect."""
        if not restrictions:
            return base
        content: tuple[object, ...] = (base, *restrictions)
        if self._taken is not None and name not in self._taken:
            content = (name, *content)
            self._names.setdefault(content, name)
        own = self._defined(name, content, lambda: restricted_type(base, restrictions))
        self.bases[own] = base
        return own

    def _defined(self, name: str, content: tuple[object, ...], text: Callable[[], str]) -> str:
        """Return the name of the type with this content, which components with the same values share."""
        # The id of a group has no dot, so the name cannot be that of a group's type.
        own = self._names.setdefault(content, f"{name}.Values")
        if own not in self._written:
            self._written.add(own)
            self.definitions.append(text().replace("<xs:simpleType>", f'<xs:simpleType name="{own}">', 1))
        return own


def is_name_in_xml(id_: str) -> bool:
    """Return whether the id is a valid name in XML."""
    return _is_name(id_) is not None


def name_in_xml(id_: str, what: str) -> str:
    """Return the id unchanged, if it is a valid name in XML.

    Raises:
        UnwritableError: the id is not a valid name in XML, so that no message can contain it.
    """
    if not is_name_in_xml(id_):
        raise UnwritableError(
            f"the {what} {id_!r} cannot be named in XML, so structure-specific messages cannot have it"
        )
    return id_
