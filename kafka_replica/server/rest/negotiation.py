"""Content negotiation: the formats that a request accepts, in order of preference.

Source: RFC 9110, section 12.5.1 (Accept); SDMX REST 2.2.2, doc/content_negotiation.md and doc/structures.md ("Response
types"); SDMX REST 1.5.0, docs/4_6_conneg.md. The names for ``format`` are those of FMR.
"""

from __future__ import annotations

import re
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
"""The values of the parameter ``format``; ``sdmx``, ``xml``, ``sdmx-json`` and ``json`` depend on the API."""

_BY_API: Final = {
    "sdmx": {Api.V1: Format.SDMX_ML_2_1, Api.V2: Format.SDMX_ML_3_0},
    "xml": {Api.V1: Format.SDMX_ML_2_1, Api.V2: Format.SDMX_ML_3_0},
    "sdmx-json": {Api.V1: Format.SDMX_JSON_1_0, Api.V2: Format.SDMX_JSON_2_0},
    "json": {Api.V1: Format.SDMX_JSON_1_0, Api.V2: Format.SDMX_JSON_2_0},
}

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

XML_SCHEMA: Final = "application/vnd.sdmx.schema+xml"
"""The media type of XML schemas, without its version."""

_CHARSETS: Final = {"utf-8", "utf8", "us-ascii"}
_range = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+").fullmatch
_MAX_LENGTH: Final = 4_096


class OfferedFormat(NamedTuple):
    """A format that a request accepts, and the media type for the answer, if possible as the request wrote it."""

    format: Format
    content_type: str


class _Range(NamedTuple):
    essence: str
    version: str | None
    charset: str | None
    quality: float
    text: str

    def precedence(self) -> tuple[int, float]:
        """Return how specific the range is; of equally specific ones, the one with the greater weight counts."""
        return self._specificity(), self.quality

    def _specificity(self) -> int:
        if self.essence == "*/*":
            return 0
        return 1 if self.essence.endswith("/*") else 2 + (self.version is not None)

    def matches(self, format_: Format) -> bool:
        if self.charset is not None and self.charset not in _CHARSETS:
            return False
        if self.essence.endswith("/*"):
            return self.essence == "*/*" or any(each.startswith(self.essence[:-1]) for each in _ESSENCES[format_])
        return self.essence in _ESSENCES[format_] and self.accepts_version(format_)

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
        named = named if is_xml_or_json else str(format_)
        return named if self.charset is None else f"{named};charset=utf-8"


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
    if len(accept) > _MAX_LENGTH:
        return ()
    if not accept.strip():
        return tuple(OfferedFormat(format_, str(format_)) for format_ in PREFERENCES[api])
    ranges = _ranges(accept)
    found: list[tuple[float, int, OfferedFormat]] = []
    for position, format_ in enumerate(PREFERENCES[api]):
        best = max((each for each in ranges if each.matches(format_)), key=_Range.precedence, default=None)
        if best is not None and best.quality > 0:
            found.append((-best.quality, position, OfferedFormat(format_, best.content_type(format_))))
    return tuple(offer for _, _, offer in sorted(found, key=lambda entry: entry[:2]))


def error_format(accept: str, format_name: str | None, api: Api) -> Format:
    """Return the format of the error message for a request: the first acceptable one, if there is any.

    A request may accept none, such as one for data or for a schema. Then the message is in XML or JSON as its first
    media type, and if possible of the same version; if this type is neither, the message has the API's default format.
    Other arguments are those of :func:`offers`.
    """
    accepted = offers(accept, format_name, api)
    if accepted:
        return accepted[0].format
    named = [] if len(accept) > _MAX_LENGTH else [each for each in _ranges(accept) if each.quality > 0]
    for one in sorted(named, key=lambda each: -each.quality):
        family = next((formats for end, formats in _FAMILIES.items() if one.essence.endswith(end)), ())
        possible = [format_ for format_ in PREFERENCES[api] if format_ in family]
        if possible:
            return next(filter(one.accepts_version, possible), possible[0])
    return PREFERENCES[api][0]


def schema_offers(accept: str, api: Api) -> tuple[OfferedFormat, ...]:
    """Return the XML schemas that a request names: the format of their data messages, and the schema's media type.

    A request of 1.x that accepts anything gets an XML schema, too, which is the default there. The default of 2.x is a
    JSON schema, which is not offered; such requests get structures.
    """
    if len(accept) > _MAX_LENGTH:
        return ()
    messages = (Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1)
    preferred = messages if api is Api.V1 else (*messages[1:], messages[0])
    ranges = [each for each in _ranges(accept) if each.quality > 0]
    named = [each for each in ranges if each.essence == XML_SCHEMA]
    if api is Api.V1 and (not accept.strip() or {each.essence for each in ranges} == {"*/*"}):
        return tuple(_schema_offer(format_) for format_ in preferred)
    return tuple(
        _schema_offer(format_)
        for each in sorted(named, key=lambda each: -each.quality)
        for format_ in preferred
        if each.accepts_version(format_)
    )


def _schema_offer(messages: Format) -> OfferedFormat:
    return OfferedFormat(messages, str(messages).replace("vnd.sdmx.structure+xml", "vnd.sdmx.schema+xml"))


def version_of(format_: Format) -> str | None:
    """Return the version of a format, such as ``2.1``; None for formats without versions."""
    name = format_.title
    return name.rpartition(" ")[2] if " " in name else None


def offered() -> str:
    """Return a list of the offered formats, for clients that accept none of them."""
    return f"media types are {', '.join(media_types())}; values of format are {', '.join([*FORMAT_NAMES, *_BY_API])}"


def _named(name: str, api: Api) -> tuple[OfferedFormat, ...]:
    format_ = FORMAT_NAMES.get(name)
    if format_ is None and name in _BY_API:
        format_ = _BY_API[name][api]
    if format_ is None:
        return offers(name, None, api) if "/" in name and "*" not in name else ()
    return (OfferedFormat(format_, str(format_)),)


def _ranges(accept: str) -> list[_Range]:
    return [_range_of(one) for one in media_ranges_in(accept) if _range(one.name)]


def _range_of(weighted_element: WeightedElement) -> _Range:
    version, charset = weighted_element.parameters.get("version"), weighted_element.parameters.get("charset")
    written = weighted_element.name if version is None else f"{weighted_element.name};version={version}"
    return _Range(
        weighted_element.name, version, None if charset is None else charset.lower(), weighted_element.quality, written
    )
