"""Content negotiation: the formats that a request accepts, in order of preference.

Source: RFC 9110, section 12.5.1 (Accept); SDMX REST 2.2.2, doc/content_negotiation.md, doc/structures.md and
doc/schema.md ("Response types"); SDMX REST 1.5.0, docs/4_6_conneg.md. The names for ``format`` are those of FMR.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from kafka_replica.common.quality_values import WeightedElement, media_ranges_in
from kafka_replica.sdmx import Format, media_types
from kafka_replica.sdmx.urns.versions import fits
from kafka_replica.server.rest.grammar import Api

_ML: Final = (Format.SDMX_ML_3_1, Format.SDMX_ML_3_0, Format.SDMX_ML_2_1)
_JSON: Final = (Format.SDMX_JSON_2_1, Format.SDMX_JSON_2_0, Format.SDMX_JSON_1_0)
_OLD: Final = (Format.SDMX_ML_2_0, Format.SDMX_ML_1_0)
_REST: Final = (Format.FUSION_JSON, *_OLD, Format.EDI, Format.XLSX)

_FAMILIES: Final = {"xml": _ML, "json": _JSON}
"""The formats with error messages, by the end of a media type."""

PREFERENCES: Final = {
    Api.V1: (Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, *_JSON[::-1], *_REST),
    Api.V2: (*_JSON, *_ML, *_REST),
}
"""All formats by version of the API, the default first: SDMX-JSON for 2.x, SDMX-ML for 1.x."""

FORMAT_NAMES: Final = {
    "sdmx-1.0": Format.SDMX_ML_1_0,
    "sdmx-2.0": Format.SDMX_ML_2_0,
    "sdmx-2.1": Format.SDMX_ML_2_1,
    "sdmx-3.0": Format.SDMX_ML_3_0,
    "sdmx-3.1": Format.SDMX_ML_3_1,
    "sdmx-json-1.0": Format.SDMX_JSON_1_0,
    "sdmx-json-2.0": Format.SDMX_JSON_2_0,
    "sdmx-json-2.1": Format.SDMX_JSON_2_1,
    "fusion-json": Format.FUSION_JSON,
    "sdmx-edi": Format.EDI,
    "edi": Format.EDI,
    "excel": Format.XLSX,
    "xlsx": Format.XLSX,
}
"""The values of the parameter ``format`` that mean the same in each version of the API."""

FORMAT_NAMES_BY_API: Final = {
    "sdmx": {Api.V1: Format.SDMX_ML_2_1, Api.V2: Format.SDMX_ML_3_0},
    "xml": {Api.V1: Format.SDMX_ML_2_1, Api.V2: Format.SDMX_ML_3_0},
    "sdmx-json": {Api.V1: Format.SDMX_JSON_1_0, Api.V2: Format.SDMX_JSON_2_0},
    "json": {Api.V1: Format.SDMX_JSON_1_0, Api.V2: Format.SDMX_JSON_2_0},
}
"""The values of the parameter ``format`` whose meaning depends on the version of the API."""

_ESSENCES: Final = {
    **{format_: {"application/vnd.sdmx.structure+xml", "application/xml", "text/xml"} for format_ in (*_ML, *_OLD)},
    **{
        format_: {"application/vnd.sdmx.structure+json", "application/vnd.sdmx.json", "application/json"}
        for format_ in _JSON
    },
    Format.FUSION_JSON: {"application/vnd.fusion.json"},
    Format.EDI: {"application/vnd.sdmx.structure+edi", "application/vnd.sdmx.structure"},
    Format.XLSX: {str(Format.XLSX), "application/vnd.xlsx"},
}
"""The media types, without parameters, that denote each format."""

_XML_SCHEMA: Final = "application/vnd.sdmx.schema+xml"
_JSON_SCHEMA: Final = "application/vnd.sdmx.schema+json"
_ANYTHING: Final = {"*/*", "application/*"}
_OTHER_ANSWERS: Final = frozenset({_JSON_SCHEMA}.union(*_ESSENCES.values()))
"""The media types of answers to a schema query other than XML schemas."""

_SCHEMAS: Final = {
    Api.V1: (Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1),
    Api.V2: (Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, Format.SDMX_ML_2_1),
}
"""The formats of data messages for which there are XML schemas, by version of the API, the default first."""

_CHARSETS: Final = {"utf-8", "utf8", "us-ascii"}
_range = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+").fullmatch
_MAX_LENGTH: Final = 4_096


class OfferedFormat(NamedTuple):
    """A format that a request accepts, and the media type for the answer, if possible as the request wrote it.

    If ``is_schema`` is true, the answer is the XML schema of the format's data messages.
    """

    format: Format
    content_type: str
    is_schema: bool = False


class _Weighted(NamedTuple):
    weight: tuple[float, bool]
    offer: OfferedFormat


class _Range(NamedTuple):
    essence: str
    version: str | None
    charset: str | None
    quality: float
    text: str

    @property
    def weight(self) -> tuple[float, bool]:
        """The weight of the formats in the range; at equal weights, named formats precede those of a wildcard.

        Many HTTP clients add a wildcard to the types that they can read, and give no weights.
        """
        return self.quality, not self.essence.endswith("/*")

    def precedence(self) -> tuple[int, float]:
        """Return how specific the range is; of equally specific ones, the one with the greater weight counts."""
        return self._specificity(), self.quality

    def _specificity(self) -> int:
        if self.essence == "*/*":
            return 0
        return 1 if self.essence.endswith("/*") else 2 + (self.version is not None)

    def matches(self, format_: Format) -> bool:
        if not self._accepts_utf_8():
            return False
        if self.essence.endswith("/*"):
            return self.essence == "*/*" or any(each.startswith(self.essence[:-1]) for each in _ESSENCES[format_])
        return self.essence in _ESSENCES[format_] and self.accepts_version(format_)

    def matches_version(self, format_: Format) -> bool:
        """Return whether the range includes the version of a format, in UTF-8."""
        return self._accepts_utf_8() and self.accepts_version(format_)

    def _accepts_utf_8(self) -> bool:
        return self.charset is None or self.charset in _CHARSETS

    def accepts_version(self, format_: Format) -> bool:
        """Return whether the range names the format's version, a rule that the version fits, or no version."""
        own = version_of(format_)
        if own is None or self.version is None:
            return True
        if "+" in self.version:
            return fits(self.version, f"{own}.0")
        return self.version in {own, f"{own}.0"}

    def content_type(self, format_: Format) -> str:
        """Return the media type for the answer: as requested if the request names a single version; with a charset."""
        named = self.text if self.version is not None and "+" not in self.version else str(format_)
        is_xml_or_json = self.essence in {"application/vnd.sdmx.structure+xml", "application/vnd.sdmx.structure+json"}
        return self._with_charset(named if is_xml_or_json else str(format_))

    def schema_type(self, format_: Format) -> str:
        """Return the media type for the XML schema of a format, with a charset if the range names one."""
        return self._with_charset(_schema_type(format_))

    def _with_charset(self, media_type: str) -> str:
        return media_type if self.charset is None else f"{media_type};charset=utf-8"


@lru_cache(maxsize=256)
def offers(accept: str, format_name: str | None, api: Api) -> tuple[OfferedFormat, ...]:
    """Return the formats that a request accepts, the preferred first; empty if no offered format is acceptable.

    Args:
        accept: the header Accept; empty if any format is accepted.
        format_name: the parameter ``format``, which takes precedence: one of FMR's names, or a media type.
        api: the version of the API, whose defaults apply.
    """
    if format_name is not None:
        return _named(format_name.strip().lower(), api)
    return _preferred_first(_weighted_formats(accept, api))


@lru_cache(maxsize=256)
def schema_query_offers(accept: str, format_name: str | None, api: Api) -> tuple[OfferedFormat, ...]:
    """Return the XML schemas and formats of structures that a schema query accepts, the preferred first.

    With equal weights, XML schemas take precedence. Arguments are those of :func:`offers`.
    """
    if format_name is None:
        return _preferred_first([*_weighted_schemas(accept, api), *_weighted_formats(accept, api)])
    media_type = format_name.strip().lower()
    if media_type.startswith(_XML_SCHEMA):
        return _preferred_first(_weighted_schemas(media_type, api))
    return _named(media_type, api)


def names_json_schema(accept: str, format_name: str | None) -> bool:
    """Return whether a request accepts a JSON schema by its name."""
    named = accept if format_name is None else format_name
    return any(each.essence == _JSON_SCHEMA and each.quality > 0 for each in _ranges(named))


def error_format(accept: str, format_name: str | None, api: Api) -> Format:
    """Return the format of the error message for a request: the first acceptable one, if there is any.

    A request may accept none, such as one for data or for a schema. Then the message is in XML or JSON as its first
    media type, and if possible of the same version; if this type is neither, the message has the API's default format.
    Other arguments are those of :func:`offers`.
    """
    accepted = offers(accept, format_name, api)
    if accepted:
        return accepted[0].format
    requested = accept if format_name is None or "/" not in format_name else format_name
    named = [each for each in _ranges(requested) if each.quality > 0]
    for one in sorted(named, key=lambda each: -each.quality):
        family = next((formats for end, formats in _FAMILIES.items() if one.essence.endswith(end)), ())
        possible = [format_ for format_ in PREFERENCES[api] if format_ in family]
        if possible:
            return next(filter(one.accepts_version, possible), possible[0])
    return PREFERENCES[api][0]


def version_of(format_: Format) -> str | None:
    """Return the version of a format, such as ``2.1``; None for formats without versions."""
    name = format_.title
    return name.rpartition(" ")[2] if " " in name else None


def offered() -> str:
    """Return a list of the offered formats, for clients that accept none of them."""
    names = ", ".join([*FORMAT_NAMES, *FORMAT_NAMES_BY_API])
    return f"media types are {', '.join(media_types())}; values of format are {names}"


def offered_schemas(api: Api) -> str:
    """Return a list of the media types of XML schemas, for clients that accept none of them."""
    return ", ".join(_schema_type(format_) for format_ in _SCHEMAS[api])


def _named(name: str, api: Api) -> tuple[OfferedFormat, ...]:
    format_ = FORMAT_NAMES.get(name)
    if format_ is None and name in FORMAT_NAMES_BY_API:
        format_ = FORMAT_NAMES_BY_API[name][api]
    if format_ is None:
        return offers(name, None, api) if "/" in name and "*" not in name else ()
    return (OfferedFormat(format_, str(format_)),)


def _weighted_formats(accept: str, api: Api) -> list[_Weighted]:
    """Return the accepted formats of structures with their weights, in the API's order."""
    ranges = _ranges(accept)
    found: list[_Weighted] = []
    for format_ in PREFERENCES[api]:
        best = _most_specific(each for each in ranges if each.matches(format_))
        if best is not None:
            found.append(_Weighted(best.weight, OfferedFormat(format_, best.content_type(format_))))
    return found


def _weighted_schemas(accept: str, api: Api) -> list[_Weighted]:
    """Return the accepted XML schemas with their weights, in the API's order."""
    ranges = _schema_ranges(accept, api)
    found: list[_Weighted] = []
    for format_ in _SCHEMAS[api]:
        best = _most_specific(each for each in ranges if each.matches_version(format_))
        if best is not None:
            found.append(_Weighted(best.weight, OfferedFormat(format_, best.schema_type(format_), is_schema=True)))
    return found


def _schema_ranges(accept: str, api: Api) -> list[_Range]:
    """Return the media ranges that include XML schemas.

    A request of 1.x that accepts anything accepts an XML schema, which is the default there, unless it names other
    answers: many HTTP clients add a wildcard to the types that they request. The default of 2.x is a JSON schema, which
    is not offered; such requests get structures.
    """
    ranges = _ranges(accept)
    names_others = any(each.essence in _OTHER_ANSWERS and each.quality > 0 for each in ranges)
    included = {_XML_SCHEMA} if api is Api.V2 or names_others else {_XML_SCHEMA, *_ANYTHING}
    return [each for each in ranges if each.essence in included]


def _most_specific(ranges: Iterable[_Range]) -> _Range | None:
    """Return the range that decides about a format that all of them include; None if it excludes the format."""
    best = max(ranges, key=_Range.precedence, default=None)
    return best if best is not None and best.quality > 0 else None


def _preferred_first(weighted: list[_Weighted]) -> tuple[OfferedFormat, ...]:
    """Return the offers by weight; those of equal weight keep their order."""
    return tuple(offer for _, offer in sorted(weighted, key=lambda entry: entry.weight, reverse=True))


def _schema_type(messages: Format) -> str:
    """Return the media type of the XML schema of a format's data messages."""
    return str(messages).replace("vnd.sdmx.structure+xml", "vnd.sdmx.schema+xml")


def _ranges(accept: str) -> list[_Range]:
    """Return the media ranges of the header Accept: one of everything if it is empty, and none if it is too long."""
    if len(accept) > _MAX_LENGTH:
        return []
    return [_range_of(one) for one in media_ranges_in(accept.strip() or "*/*") if _range(one.name)]


def _range_of(weighted_element: WeightedElement) -> _Range:
    version, charset = weighted_element.parameters.get("version"), weighted_element.parameters.get("charset")
    written = weighted_element.name if version is None else f"{weighted_element.name};version={version}"
    return _Range(
        weighted_element.name, version, None if charset is None else charset.lower(), weighted_element.quality, written
    )
