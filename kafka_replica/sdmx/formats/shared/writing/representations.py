"""The representations that a format allows for a component: data types, facets, formats next to a list, occurrences.

Source: the types *RepresentationType and *TextFormatType in SDMXStructureBase.xsd of SDMX-ML 2.1, 3.0 and 3.1, and in
the schemas of SDMX-JSON 1.0, 2.0 and 2.1.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from msgspec.structs import replace

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.writing.references import SINCE_2_1, SINCE_3
from kafka_replica.sdmx.formats.shared.writing.rewriting import Change
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Component, Level
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn

_TIME: Final = "ObservationalTimePeriod"
_TIMES: Final = frozenset(
    """
    ObservationalTimePeriod StandardTimePeriod BasicTimePeriod GregorianTimePeriod GregorianYear GregorianYearMonth
    GregorianDay ReportingTimePeriod ReportingYear ReportingSemester ReportingTrimester ReportingQuarter ReportingMonth
    ReportingWeek ReportingDay DateTime TimeRange
    """.split()  # noqa: SIM905 - a list would fill the screen
)
_NOT_BESIDE_LISTS: Final = frozenset({"Decimal", "Float", "Double", "DateTime", "TimeRange", "Time", "XHTML",
                                      "GeospatialInformation"})  # fmt: skip
_OF_LEVELS: Final = frozenset({"Alpha", "AlphaNumeric", "Numeric"})
_NUMBERS: Final = ("min_value", "max_value", "start_value", "end_value", "interval")
_IN_TIME: Final = TextFormat(text_type=_TIME)


def changes_of(format_: Format) -> dict[str, Change]:
    """Return the checks and changes of representations, by field."""
    if format_ not in SINCE_2_1:
        return {}
    is_json = "JSON" in format_.name

    def of_component(found: Representation | None, owner: Component) -> Representation | None:
        kind = owner.urn.cls
        if kind == "TimeDimension":
            return _of_time(found, with_type=format_ is Format.SDMX_JSON_2_1)
        is_plain = kind == "Dimension" or (format_ not in SINCE_3 and kind != "MetadataAttribute")
        if found is None:
            return None
        if format_ in SINCE_3 and kind == "Dimension" and found.enumeration is not None:
            _check_list_of_dimension(found.enumeration)
        if format_ in SINCE_3 and kind in {"Dimension", "MetadataAttribute"} and _says_occurrences(found):
            raise UnwritableError(f"the format cannot represent occurrences in the representation of a {kind}")
        return _checked(found, is_plain=is_plain, is_json=is_json, is_3=format_ in SINCE_3)

    def of_concept(found: Representation | None, _: Any) -> Representation | None:
        return None if found is None else _checked(found, is_plain=False, is_json=is_json, is_3=format_ in SINCE_3)

    return {
        "Component.representation": of_component,
        "Concept.core_representation": of_concept,
        "Level.coding_format": _of_level,
        "TextFormat.min_length": _at_least_one,
    }


def _check_list_of_dimension(urn: Urn) -> None:
    """Raise UnwritableError unless it is a codelist: the schemas allow value lists for measures and attributes only."""
    if urn.cls != "Codelist":
        raise UnwritableError(f"the format has a place for a Codelist where a dimension refers to {urn}")


def _at_least_one(found: int | None, _: Any) -> int | None:
    """Leave out a minimum of 0 characters: it is the default, and the schemas do not allow it."""
    return None if found == 0 else found


def _says_occurrences(found: Representation) -> bool:
    return found.min_occurs is not None or found.max_occurs is not None


def _of_time(found: Representation | None, *, with_type: bool) -> Representation:
    """Reduce a time dimension's representation to its type, and first and last time. The type implies the length."""
    if found is None:
        return Representation(format=_IN_TIME)
    if found.enumeration is not None or _says_occurrences(found):
        raise UnwritableError("the format cannot represent a list, or occurrences, of times")
    own = found.format or _IN_TIME
    if own.text_type not in _TIMES and own.text_type is not None:
        raise UnwritableError(f"the format cannot represent the type {own.text_type!r} of a time dimension")
    kept = TextFormat(
        text_type=own.text_type or (_TIME if with_type else None),
        start_time=own.start_time,
        end_time=own.end_time,
        sentinel_values=own.sentinel_values,
    )
    return found if kept == found.format else replace(found, format=kept)


def _checked(found: Representation, *, is_plain: bool, is_json: bool, is_3: bool) -> Representation:
    if found.enumeration is None and found.format is None:
        raise UnwritableError("the format cannot represent a representation that is neither a list nor a format")
    own = found.format
    if own is None:
        return found
    if found.enumeration is not None:
        _check_beside_list(own, is_json=is_json)
        return found
    if is_plain and (own.is_multi_lingual is not None or own.text_type == "XHTML"):
        raise UnwritableError("the format cannot represent texts in several languages, or XHTML, in such a component")
    if own.text_type == "GeospatialInformation" and not is_3:
        raise UnwritableError("the format cannot represent the type 'GeospatialInformation'")
    return found


def _check_beside_list(own: TextFormat, *, is_json: bool) -> None:
    """Raise UnwritableError if a format is not allowed in addition to a list of codes."""
    if own.text_type in _NOT_BESIDE_LISTS:
        raise UnwritableError(f"the format cannot represent the type {own.text_type!r} next to a list of codes")
    if own.decimals is not None or own.is_multi_lingual is not None or own.sentinel_values:
        raise UnwritableError(
            "the format cannot represent decimals, languages or sentinel values next to a list of codes"
        )
    if is_json and not all(_is_whole(getattr(own, name)) for name in _NUMBERS):
        raise UnwritableError("the format can represent only whole numbers next to a list of codes")


def _is_whole(value: Decimal | None) -> bool:
    return value is None or value == value.to_integral_value()


def _of_level(own: TextFormat | None, _: Level) -> TextFormat | None:
    """Return the format of the codes of a level."""
    if own is None:
        return None
    if own.text_type not in _OF_LEVELS and own.text_type is not None:
        raise UnwritableError(f"the format cannot represent the type {own.text_type!r} of codes of a level")
    if own.decimals is not None or own.is_multi_lingual is not None or own.time_interval or own.start_time:
        raise UnwritableError("the format cannot represent decimals, languages or times of codes of a level")
    return own
