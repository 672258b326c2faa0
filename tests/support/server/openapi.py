"""Paths, parameters and statuses of the OpenAPI description of SDMX REST, as strategies for valid requests.

Source: SDMX REST 2.2.2, api/sdmx-rest.yaml (``paths``, ``components.parameters``, ``components.responses``).
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from hypothesis import strategies as st


def names(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


STATUSES: Final = frozenset({200, 204, 304, 400, 401, 403, 404, 406, 413, 414, 422, 500, 501, 503})
"""The statuses of all paths."""

STRUCTURE_TYPES: Final = names(
    "datastructure metadatastructure dataflow metadataflow provisionagreement process categorisation dataconstraint "
    "metadataconstraint conceptscheme codelist categoryscheme hierarchy hierarchyassociation agencyscheme "
    "dataproviderscheme dataconsumerscheme organisationunitscheme transformationscheme rulesetscheme "
    "userdefinedoperatorscheme customtypescheme namepersonalisationscheme vtlmappingscheme valuelist structuremap "
    "representationmap conceptschememap categoryschememap organisationschememap reportingtaxonomymap "
    "metadataproviderscheme reportingtaxonomy metadataprovisionagreement *"
)
ITEM_SCHEME_TYPES: Final = names(
    "conceptscheme codelist categoryscheme agencyscheme dataproviderscheme dataconsumerscheme organisationunitscheme "
    "transformationscheme rulesetscheme userdefinedoperatorscheme customtypescheme namepersonalisationscheme "
    "vtlmappingscheme valuelist *"
)
SCHEMA_CONTEXTS: Final = names(
    "datastructure metadatastructure dataflow metadataflow provisionagreement metadataprovisionagreement"
)
DATA_CONTEXTS: Final = frozenset(["datastructure", "dataflow", "provisionagreement", "*"])
DETAILS: Final = names("full allstubs referencestubs allcompletestubs referencecompletestubs referencepartial raw")
REFERENCES: Final = names(
    "none parents parentsandsiblings ancestors children descendants all datastructure metadatastructure categoryscheme "
    "conceptscheme codelist hierarchy hierarchyassociation agencyscheme dataproviderscheme dataconsumerscheme "
    "organisationunitscheme dataflow metadataflow reportingtaxonomy provisionagreement structureset process "
    "categorisation dataconstraint metadataconstraint transformationscheme rulesetscheme userdefinedoperatorscheme "
    "customtypescheme namepersonalisationscheme namealiasscheme valuelist structuremap representationmap "
    "conceptschememap categoryschememap organisationschememap reportingtaxonomymap"
)
STRUCTURE_MEDIA_TYPES: Final = (
    "application/vnd.sdmx.structure+xml;version=3.1.0", "application/vnd.sdmx.structure+json;version=2.1.0",
    "application/vnd.sdmx.structure+xml;version=3.0.0", "application/vnd.sdmx.structure+json;version=2.0.0",
    "application/vnd.sdmx.structure+xml;version=2.1", "application/vnd.sdmx.structure+json;version=1.0.0",
)  # fmt: skip
"""The media types of structures, in the order of the description."""


def _listed(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return lists of values in the style ``simple``: separated by commas."""
    return st.lists(values, min_size=1, max_size=3).map(",".join)


def _one(values: frozenset[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(sorted(values))


def _joined(*parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*(st.just(part) if isinstance(part, str) else part for part in parts)).map("".join)


_NUMBER: Final = st.sampled_from(["0", "1", "2", "10"])
_POSITIVE: Final = st.sampled_from(["1", "2", "10"])
_ANY_SIGN: Final = st.sampled_from("*~")
_ID: Final = st.sampled_from(["CL_FREQ", "EXR", "AGENCIES"]) | st.from_regex(r"[A-Za-z0-9_@$-]{1,8}", fullmatch=True)
_AGENCY: Final = st.sampled_from(["SDMX", "ECB", "ECB.DISS"]) | st.from_regex(
    r"[A-Za-z][A-Za-z0-9_-]{0,4}(\.[A-Za-z][A-Za-z0-9_-]{0,4}){0,2}", fullmatch=True
)
_VERSION: Final = st.one_of(
    st.sampled_from(["+", "~", "~.0", "~.0.0", "*", "*.0", "*.0.0", "+.0.0", "1.0"]),
    _joined(_NUMBER, ".", _NUMBER),
    _joined(_NUMBER, ".", _NUMBER, ".", _NUMBER, st.sampled_from(["", "-draft", "-rc.1", "-0.a-b"])),
    _joined(_POSITIVE, ".+.0"),
    _joined(_POSITIVE, "+.", _NUMBER, ".", _NUMBER),
    _joined(_POSITIVE, ".", _NUMBER, ".+"),
    _joined(_POSITIVE, ".", _NUMBER, "+.", _NUMBER),
    _joined(_POSITIVE, ".", _NUMBER, ".", _NUMBER, "+"),
    _joined(_NUMBER, _ANY_SIGN, ".", _NUMBER),
    _joined(_NUMBER, _ANY_SIGN, ".", _NUMBER, ".", _NUMBER),
    _joined(_NUMBER, ".", _ANY_SIGN, st.sampled_from(["", ".0"])),
    _joined(_NUMBER, ".", _NUMBER, _ANY_SIGN, st.sampled_from(["", ".0", ".1"])),
    _joined(_NUMBER, ".", _NUMBER, ".", _NUMBER, _ANY_SIGN),
)
_ONE_VERSION: Final = _VERSION.filter(lambda text: "*" not in text)
# Items are strings without a pattern; commas separate them, and control characters are left to other tests.
_ITEM: Final = st.sampled_from(["A", "M", "ECO.PRICES"]) | st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=","), min_size=1, max_size=5
)
_AGENCIES, _IDS, _VERSIONS = _listed(st.just("*") | _AGENCY), _listed(st.just("*") | _ID), _listed(_VERSION)
_INSTANT: Final = st.datetimes().map(lambda one: f"{one.replace(microsecond=0).isoformat()}Z") | st.just(
    "2026-01-01T00:00:00+01:00"
)

_STRUCTURE_PARAMETERS: Final = {"references": _listed(_one(REFERENCES)), "detail": _one(DETAILS), "asOf": _INSTANT}
_SCHEMA_PARAMETERS: Final = {
    "dimensionAtObservation": st.sampled_from(["TIME_PERIOD", "AllDimensions"]),
    "deletion": st.sampled_from(["true", "false"]),
    "asOf": _INSTANT,
}
_HEADERS: Final = {
    "Accept-Encoding": _one(names("br compress deflate exi gzip identity pack200-gzip zstd")),
    "Accept-Language": st.sampled_from(["en", "fr;q=0.5, *"]),
    "If-Modified-Since": st.just("Wed, 21 Oct 2026 07:28:00 GMT"),
}

_Segments = tuple[str | st.SearchStrategy[str], ...]
SERVED: Final[tuple[tuple[_Segments, dict[str, st.SearchStrategy[str]]], ...]] = (
    (("structure", _one(STRUCTURE_TYPES), _AGENCIES, _IDS, _VERSIONS), _STRUCTURE_PARAMETERS),
    (("structure", _one(ITEM_SCHEME_TYPES), _AGENCIES, _IDS, _VERSIONS, _listed(_ITEM)), _STRUCTURE_PARAMETERS),
    (("schema", _one(SCHEMA_CONTEXTS), _AGENCY, _ID, _ONE_VERSION), _SCHEMA_PARAMETERS),
)
"""The paths that are served, with their query parameters."""
NOT_SERVED: Final[tuple[tuple[_Segments, dict[str, st.SearchStrategy[str]]], ...]] = (
    (("data", _one(DATA_CONTEXTS), _AGENCIES, _IDS, _VERSIONS, _listed(_ITEM)), {"asOf": _INSTANT}),
    (("availability", _one(DATA_CONTEXTS - {"*"}), _AGENCIES, _IDS, _VERSIONS, _ITEM, _IDS), {}),
    (("metadata", "structure", _one(STRUCTURE_TYPES), _AGENCIES, _IDS, _VERSIONS), {"asOf": _INSTANT}),
    (("metadata", "metadataflow", _AGENCIES, _IDS, _VERSIONS, _AGENCIES), {"detail": st.just("allstubs")}),
    (("metadata", "metadataset", _AGENCIES, _IDS, _VERSIONS), {"detail": st.just("full")}),
    (("registration", "id", _IDS), {}),
    (("registration", "provider", _AGENCIES, _IDS), {"updatedAfter": _INSTANT}),
    (("registration", _one(DATA_CONTEXTS), _AGENCIES, _IDS, _VERSIONS), {"updatedBefore": _INSTANT}),
)  # fmt: skip
"""The paths that the service documents as not implemented."""


@st.composite
def requests(
    draw: st.DrawFn, paths: tuple[tuple[_Segments, dict[str, st.SearchStrategy[str]]], ...]
) -> tuple[str, dict[str, str]]:
    """Return the target and headers of a request that complies with the description."""
    segments, parameters = draw(st.sampled_from(paths))
    texts = (segment if isinstance(segment, str) else draw(segment) for segment in segments)
    path = "/".join(quote(text, safe="*+~,@$") for text in texts)
    chosen = [f"{name}={quote(draw(value), safe=',')}" for name, value in parameters.items() if draw(st.booleans())]
    headers = {name: draw(value) for name, value in _HEADERS.items() if draw(st.booleans())}
    headers["Accept"] = draw(st.sampled_from(["*/*", *STRUCTURE_MEDIA_TYPES]))
    return f"/{path}" + (f"?{'&'.join(chosen)}" if chosen else ""), headers
