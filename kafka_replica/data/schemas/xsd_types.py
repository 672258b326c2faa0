"""The types of XML Schema that represent the text types of SDMX.

Source: SDMX 2.1 and 3.0 Section 6, "Representation data types"; SDMXCommon.xsd.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_replica.sdmx.values.text_types import SIZES, TIME_TYPES

STRING: Final = "xs:string"
OBSERVATIONAL: Final = "common:ObservationalTimePeriodType"
"""The type that the standard's own schemas give to the attribute TIME_PERIOD."""
MOST_COUNTED: Final = 1_000
"""The maximum number of repetitions in a pattern or of an element, because XML processors expand them in memory."""

_OF_XML_SCHEMA: Final = {
    "GregorianYear": "xs:gYear", "GregorianYearMonth": "xs:gYearMonth", "GregorianDay": "xs:date",
    "DateTime": "xs:dateTime", "BigInteger": "xs:integer", "Integer": "xs:int", "Long": "xs:long", "Short": "xs:short",
    "Count": "xs:integer", "Decimal": "xs:decimal", "InclusiveValueRange": "xs:decimal",
    "ExclusiveValueRange": "xs:decimal", "Incremental": "xs:decimal", "Float": "xs:float", "Double": "xs:double",
    "Boolean": "xs:boolean", "URI": "xs:anyURI", "Month": "xs:gMonth", "MonthDay": "xs:gMonthDay", "Day": "xs:gDay",
    "Time": "xs:time", "Duration": "xs:duration",
}  # fmt: skip
_SYNTAX: Final = ("Alpha", "AlphaNumeric", "Numeric")
"""The text types for letters and digits, each of which has a type in SDMXCommon.xsd."""

XSD_TYPES: Final = {
    **{name: f"common:{name}Type" for name in (*TIME_TYPES, *_SYNTAX)},
    **_OF_XML_SCHEMA,
}
"""The types of text types that restrict values; all other text types are :data:`STRING`."""

UNIONS: Final = frozenset(
    XSD_TYPES[name]
    for name in ("ObservationalTimePeriod", "StandardTimePeriod", "BasicTimePeriod", "GregorianTimePeriod",
                 "ReportingTimePeriod")
)  # fmt: skip
"""The types that are unions, which can be restricted only by patterns."""
NARROWER_PERIODS: Final = {
    "StandardTimePeriod": "[^/]+",
    "BasicTimePeriod": r"([^/\-]|-[0-9])+",
    "GregorianTimePeriod": r"([^/T\-]|-[0-9])+",
    "ReportingTimePeriod": "[0-9]{4}-[ASTQMWD][^/]*",
}
"""The text types whose types are unions within :data:`OBSERVATIONAL`, each with a pattern of its values among those.

In XML Schema 1.0, a union is not a restriction of a union that contains it, so these types may not take the place of
:data:`OBSERVATIONAL`.
"""

WITH_LENGTH: Final = frozenset({STRING, "xs:anyURI", *(XSD_TYPES[name] for name in _SYNTAX)})
"""The types that have length facets; for other types, a pattern counts the characters."""

INTEGER_BOUNDS: Final = {
    "xs:integer": None,
    **{XSD_TYPES[name]: (-(2**bits), 2**bits - 1) for name, bits in SIZES.items()},
}
"""The integer types, each with its smallest and largest value; None if it is unbounded."""

FLOATING_TYPES: Final = frozenset({"xs:float", "xs:double"})
NUMBERS: Final = frozenset({"xs:decimal", *INTEGER_BOUNDS, *FLOATING_TYPES})
"""The numeric types, for which there are bounds."""

_PARENTS: Final = {
    "xs:short": "xs:int", "xs:int": "xs:long", "xs:long": "xs:integer", "xs:integer": "xs:decimal",
}  # fmt: skip
"""The types among those of XML Schema that restrict another one."""


def is_derived_type(type_: str, base: str, bases: Mapping[str, str]) -> bool:
    """Return whether a type is the base, or restricts it.

    Args:
        type_: the name of a type.
        base: the name of a type.
        bases: the base of each type that the schema defines as a restriction.
    """
    found: str | None = type_
    while found is not None and found != base:
        found = bases.get(found) or _PARENTS.get(found)
    return found is not None
