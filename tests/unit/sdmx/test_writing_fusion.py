"""Fusion-JSON has no schema: the writer may use what registries' files use, and a reviewed rest."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Final

import pytest

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import (
    Dataflow,
    HierarchicalCode,
    Hierarchy,
    MappedValue,
    RepresentationMap,
    RepresentationMapping,
)
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.writing.messages import write_message
from support.sdmx.conversions import read, valid_samples
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.sdmx_json_samples import artefact, message, named

REAL = rows(("fusion-json", ""))
OTHER = rows(("sdmx-ml", "3.0"), ("sdmx-ml", "3.1"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1"))
EVERYWHERE: Final = {
    "id", "urn", "uri", "names", "descriptions", "annotations", "links", "agencyId", "version", "isFinal", "isPartial",
    "isExternalReference", "startDate", "endDate", "serviceURL", "structureURL",
}  # fmt: skip
TEXTS: Final = {"names", "descriptions", "text", "departments", "roles"}
NO_ARTEFACTS: Final = {"annotations", "links", "contacts", "texts"}
UNBOUNDED: Final = ("representation", "maxOccurs")
FREE: Final = {"includeCube", "excludeCube", "fixedInput", "fixedOutput"}
"""Objects whose members are named by ids."""
NEVER_SEEN: Final = {
    # As in SDMX-ML and SDMX-JSON.
    "": {"uri", "endDate", "isExternalReference", "serviceURL"},
    "annotations": {"id", "uri", "value"},
    "links": {"type"},
    "contacts": {"fax", "telephone", "x400"},
    "Codelist": {"codelistExtensions"},
    "codelistExtensions": {"codelist", "prefix", "inclusiveCodeSelection", "exclusiveCodeSelection"},
    "inclusiveCodeSelection": {"memberValues"},
    "exclusiveCodeSelection": {"memberValues"},
    "memberValues": {"value", "cascadeValues"},
    "dimensions": {"conceptRoles"},
    "attributes": {"conceptRoles"},
    "source": {"startIndex", "endIndex"},
    # As in other classes of the same kind, of which there are files.
    "DataConsumerScheme": {"items"},
    "OrganisationUnitScheme": {"items"},
    "DataConsumerScheme.items": {"contacts"},
    "MetadataProviderScheme.items": {"contacts"},
    "OrganisationUnitScheme.items": {"contacts", "parent"},
    # As pysdmx reads them from registries.
    "Hierarchy": {"levels"},
    "codes": {"level"},
    "HierarchyAssociation": {"hierarchyRef", "linkedStructureRef", "contextRef"},
    "textFormat": {"isMultilingual"},
    "mappedRelationships": {"validFrom", "validTo"},
    "RulesetScheme": {"vtlMappingScheme"},
    "CustomTypeScheme.items": {"vtlLiteralFormat", "outputFormat"},
}
"""Names that the writer uses and no file of the corpus does, by the kind of object."""
SEVERAL_VALUES: Final = message({
    "conceptSchemes": [
        artefact("CS", concepts=[
            named(f"C{most}", coreRepresentation={"format": {"dataType": "String"}, "maxOccurs": most})
            for most in (2, "unbounded")
        ])
    ]
})  # fmt: skip
"""Both forms of a number that may be unbounded; real files have them, too."""
Keys = dict[tuple[str, str], set[str]]
"""The types of values by kind of object and name."""


def keys_of(message: dict[str, Any]) -> Keys:
    """Return the names in each kind of object of a message, except for its header."""
    found: Keys = defaultdict(set)
    for class_, artefacts in message.items():
        for one in artefacts if class_ != "meta" else ():
            _gather(one, class_, found)
    return found


def _gather(one: dict[str, Any], kind: str, found: Keys) -> None:
    for name, value in one.items():
        if kind not in FREE:
            found["" if name in EVERYWHERE and kind not in NO_ARTEFACTS else kind, name].add(type(value).__name__)
        part = "texts" if name in TEXTS else f"{kind.partition('.')[0]}.items" if name == "items" else name
        for each in _objects_in(value):
            _gather(each, "selection" if kind in FREE else part, found)


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            yield each


@cache
def _written() -> Keys:
    """Return the names that the writer uses for complete artefacts, and for parts of them."""
    samples = [data for _, data in valid_samples(4, formats={Format.SDMX_ML_2_1, Format.SDMX_ML_3_0})]
    samples += [data_of(row.values[0]) for row in OTHER if row.values[0] is not None]
    samples.append(SEVERAL_VALUES)
    written = []
    for one in (one for data in samples for one in read(data)):
        with suppress(UnwritableError):
            written.append(json.loads(write_message(one, Format.FUSION_JSON)))
    return _together(written)


def _together(messages: Iterable[dict[str, Any]]) -> Keys:
    found: Keys = defaultdict(set)
    for each in messages:
        for place, types in keys_of(each).items():
            found[place] |= types
    return found


@pytest.mark.long
@pytest.mark.corpus
def test_written_names_and_types_are_those_of_registries() -> None:
    """Names that no file of a registry has are the reviewed ones; values have the types of the files."""
    if REAL[0].marks and REAL[0].values == (None,):
        pytest.skip("the shared corpus is not here")
    real = _together(json.loads(data_of(row.values[0]).decode("utf-8-sig")) for row in REAL)
    ours = {place: types for place, types in _written().items() if place != UNBOUNDED}
    reviewed = {(kind, name) for kind, names in NEVER_SEEN.items() for name in names}
    assert set(ours) - set(real) == reviewed, "what only the writer says is what has been reviewed"
    otherwise = {place: (types, real[place]) for place, types in ours.items() if not types <= real.get(place, types)}
    assert otherwise == {}, "values of other types than in the files of registries"
    assert len(ours) > 100


@pytest.mark.thorough
def test_each_name_has_values_of_one_type() -> None:
    """Each name has values of one type in all artefacts, except for a number that may be "unbounded"."""
    mixed = {place for place, types in _written().items() if len(types) > 1}
    assert mixed == {UNBOUNDED}


@pytest.mark.parametrize(
    ("start", "milliseconds", "again"),
    [
        ("2020-01-01T00:00:00", 1577836800000, "2020-01-01T00:00:00"),
        ("2020-01-01T01:00:00.5+01:00", 1577836800500, "2020-01-01T00:00:00.500000"),
        ("2020-01-01Z", 1577836800000, "2020-01-01T00:00:00"),
        ("1960-01-01", -315619200000, "1960-01-01T00:00:00"),
    ],
)
def test_validity_is_in_milliseconds(start: str, milliseconds: int, again: str) -> None:
    """The validity is startDate of an artefact, as in all registries' files, and validFrom of a hierarchy's code."""
    flow = Dataflow(urn=Urn.of("Dataflow", "ME", "F", "1.0"), valid_from=start, valid_to=start)
    [[written]] = [json.loads(write_message(flow, Format.FUSION_JSON))["Dataflow"]]
    assert (written["startDate"], written["endDate"]) == (milliseconds, milliseconds)
    assert "validFrom" not in written
    [found] = read_message(write_message(flow, Format.FUSION_JSON))
    assert (found.valid_from, found.valid_to) == (again, again)

    urn = Urn.of("Hierarchy", "ME", "H", "1.0")
    code = HierarchicalCode(
        urn=urn.with_item("HierarchicalCode", "A"), code=Urn.of("Code", "ME", "CL", "1.0", "A"), valid_from=start
    )
    [inner] = json.loads(write_message(Hierarchy(urn=urn, codes=Items({"A": code})), Format.FUSION_JSON))["Hierarchy"]
    assert inner["codes"][0]["validFrom"] == milliseconds


def test_rows_of_maps_are_valid_from_dates_as_they_are_written() -> None:
    """Rows of maps keep their dates as written: no row has a text where another has a number."""
    rows_of = tuple(
        RepresentationMapping(sources=(MappedValue(value="A"),), targets=("B",), valid_from=start, valid_to=end)
        for start, end in (("2020-01-01", "2021-01-01T00:00:00"), ("2020-01-01T00:00:00", None))
    )
    one = RepresentationMap(
        urn=Urn.of("RepresentationMap", "ME", "M", "1.0"), sources=("String",), targets=("String",), mappings=rows_of
    )
    [written] = json.loads(write_message(one, Format.FUSION_JSON))["RepresentationMap"]
    dates = [row.get(name) for row in written["mappedRelationships"] for name in ("validFrom", "validTo")]
    assert dates == ["2020-01-01", "2021-01-01T00:00:00", "2020-01-01T00:00:00", None]


@pytest.mark.parametrize("start", ["2020", "2020-Q1", "2020-01-01T00:00:00.0001"])
def test_a_validity_that_is_no_number_of_milliseconds_is_refused(start: str) -> None:
    """A period, and an instant between two milliseconds, are refused as validity."""
    with pytest.raises(UnwritableError, match="instants in milliseconds"):
        write_message(Dataflow(urn=Urn.of("Dataflow", "ME", "F", "1.0"), valid_from=start), Format.FUSION_JSON)
