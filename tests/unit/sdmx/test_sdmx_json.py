"""SDMX-JSON: samples of every class, corpus files, twins in other formats, and hostile input."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.sdmx import (
    Codelist,
    ConceptScheme,
    Format,
    Message,
    OpaqueArtefact,
    ValueList,
    read_message,
    split_message,
)
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.formats.json_shared.collection_names import CLASS_OF_COLLECTION
from kafka_replica.sdmx.formats.json_shared.repeated_names import refuse_repeated
from kafka_replica.sdmx.formats.sdmx_json.classes import READERS
from support.paths import CORPUS
from support.sdmx.ml_messages_by_hand import codelist_xml
from support.sdmx.sdmx_corpus import ITEMS, data_of, rows
from support.sdmx.sdmx_json_samples import (
    CODELIST,
    CONCEPT,
    DSD,
    FLOW,
    SAMPLE,
    SAMPLE_1_0,
    URN,
    artefact,
    message,
    named,
)


@pytest.fixture(scope="module")
def sample() -> dict[str, Any]:
    """The artefacts of the sample of 2.0, by id."""
    return {one.urn.id: one for one in read_message(message(SAMPLE))}


@pytest.fixture(scope="module")
def older() -> dict[str, Any]:
    """The artefacts of the sample of 1.0, by id."""
    return {one.urn.id: one for one in read_message(message(SAMPLE_1_0, "1.0"))}


def only(data: bytes) -> Any:
    """Return the only artefact of a message."""
    [found] = read_message(data)
    return found


def test_every_class_is_read() -> None:
    """The samples have an artefact of every class that is read, none is opaque, and each splits into an equal part."""
    seen = set()
    for data, edition in ((SAMPLE, "2.0.0"), (SAMPLE, "2.1.0"), (SAMPLE_1_0, "1.0")):
        whole = read_message(message(data, edition))
        assert whole.format.title == f"SDMX-JSON {edition[:3]}"
        assert (whole.header.id, whole.header.sender, whole.header.test) == ("M1", "A", True)
        assert not [one for one in whole if isinstance(one, OpaqueArtefact)]
        seen |= {urn.cls for urn in whole.artefacts}
        for part in split_message(message(data, edition)):
            assert dict(read_message(part.value).artefacts) == {part.urn: whole.artefacts[part.urn]}
        assert pickle.loads(pickle.dumps(list(whole))) == list(whole)
    assert seen == set(READERS)


def test_codelists_keep_languages_order_and_extensions(sample: dict[str, Any]) -> None:
    """Languages, order, parents, annotations, validity, links and extensions are kept."""
    found = sample["CL"]
    assert (found.version, found.is_partial, found.valid_from, found.valid_to) == ("1.0", True, "2020", "2021")
    assert dict(found.names) == {"en": "CL", "fr": "CL fr"}
    assert list(found.codes) == ["Z", "A"]
    assert (found.codes["A"].parent, found.codes["Z"].parent) == ("Z", None)
    assert dict(found.codes["Z"].descriptions) == {"en": "D", "de": "B"}
    assert str(found.codes["A"].urn) == f"{URN}codelist.Code=A:CL(1.0).A"
    for annotated in (found, found.codes["A"]):
        [note] = annotated.annotations
        assert (note.id, note.title, note.type, note.value, note.url) == ("n", "t", "k", "v", "http://example.org/n")
        assert dict(note.text) == {"en": "x", "fr": "y"}
    [link] = found.links
    assert (link.rel, link.url, link.type) == ("alternate", "http://example.org/a", "text/html")
    assert (found.uri, found.structure_url) == ("http://example.org/about", "http://example.org/cl")
    [extension] = found.extensions
    assert (extension.prefix, extension.codelist.agency) == ("X_", "B")
    members = [(one.value, one.cascade_values) for one in extension.inclusive]
    assert members == [("A%", None), ("B", "true"), ("C", "excluderoot")]


def test_codes_are_made_on_first_access(sample: dict[str, Any]) -> None:
    """A code is the same object on each access; lists compare equal whether or not their codes were made."""
    one, other = (only(message({"codelists": SAMPLE["codelists"]})) for _ in range(2))
    assert one.codes["A"] is one.codes["A"]
    assert (one.codes, hash(one), repr(one.codes)) == (other.codes, hash(other), "<2 items: Z, A>")
    assert one == other == sample["CL"]
    changed = copy.deepcopy(SAMPLE["codelists"])
    changed[0]["codes"][1]["names"]["en"] = "other"
    assert only(message({"codelists": changed})) != one
    with pytest.raises(KeyError):
        one.codes["nothing"]


def test_threads_get_the_same_codes() -> None:
    """Threads that access a code at once get the same object."""
    written = [named(f"C{i}") for i in range(2000)]
    codes = only(message({"codelists": [artefact("CL", codes=written)]})).codes
    gate = threading.Barrier(4)

    def ask() -> list[int]:
        gate.wait()
        return [id(code) for code in codes.values()]

    with ThreadPoolExecutor(4) as pool:
        found = [one.result() for one in [pool.submit(ask) for _ in range(4)]]
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"name": "N"}, {"fr": "N"}),
        ({"names": {"de": "D", "en": "E"}}, {"de": "D", "en": "E"}),
        ({"name": "D", "names": {"de": "D", "en": "E"}}, {"de": "D", "en": "E"}),
        ({"name": "N", "names": {"de": "D"}}, {"de": "D", "fr": "N"}),
        ({"name": None, "names": None}, {}),
        ({}, {}),
    ],
)
def test_a_name_without_a_language_has_the_messages_first(written: dict[str, Any], expected: dict[str, str]) -> None:
    """A name without a language is in the message's first language, unless the map has that language."""
    data = {"codelists": [{"id": "CL", "agencyID": "A", "codes": [{"id": "A"} | written]} | written]}
    found = only(message(data, contentLanguages=["fr", "en"]))
    assert dict(found.names) == dict(found.codes["A"].names) == expected
    if written == {"name": "N"}:
        assert dict(only(message(data)).names) == {"en": "N"}


def test_geographic_and_value_lists_are_kept(sample: dict[str, Any]) -> None:
    """Geographic codelists, value lists and concept schemes are kept."""
    assert sample["GEO"].codes["A"].value == "POLYGON(0 0)"
    assert (sample["GRID"].grid_definition, sample["GRID"].codes["A"].geo_cell) == ("G", "1")
    assert [(one.id, one.name()) for one in sample["VL"].values] == [("¥", "Yen"), ("¥", "Yuan")]
    concepts = sample["CS"].concepts
    core = concepts["FREQ"].core_representation
    assert (str(core.enumeration), core.format.text_type, core.format.max_length) == (CODELIST, "String", 3)
    assert (core.min_occurs, core.max_occurs) == (0, "unbounded")
    iso = concepts["FREQ"].iso_concept
    assert (iso.agency, iso.scheme, iso.id) == ("I", "S", "C")
    assert concepts["SUB"].parent == "FREQ"
    facets = concepts["VAL"].core_representation.format
    assert (str(facets.min_value), facets.decimals, facets.is_sequence) == ("-1.5", 2, False)
    assert [(one.value, dict(one.names)) for one in facets.sentinel_values] == [
        ("-1", {"en": "none"}),
        ("x", {"fr": "rien"}),
    ]


def test_data_structures_keep_components_and_relationships(sample: dict[str, Any]) -> None:
    """Components, relationships, groups, usages of metadata attributes, and lists with annotations are kept."""
    found = sample["DSD"]
    assert [(one.id, one.position) for one in found.dimension_list.values()] == [
        ("FREQ", 1), ("AREA", 2), ("TIME_PERIOD", 3),
    ]  # fmt: skip
    assert found.time_dimension.representation.format.text_type == "ObservationalTimePeriod"
    assert str(found.dimensions["FREQ"].representation.enumeration) == CODELIST
    assert [str(one) for one in found.dimensions["FREQ"].concept_roles] == [CONCEPT + "FREQ"]
    assert found.measures["M"].mandatory
    kinds = {one.id: (one.relationship.kind, one.mandatory) for one in found.attributes.values()}
    assert kinds["A1"] == ("observation", True)
    assert found.attributes["A1"].relationship.measures == ("M",)
    assert kinds["A2"] == ("dimensions", False)
    assert found.attributes["A2"].relationship.dimensions == ("FREQ", "AREA")
    assert (kinds["A3"][0], kinds["A4"][0]) == ("dataset", "group")
    assert found.attributes["REPORTING_YEAR_START_DAY"].urn.cls == "DataAttribute"
    assert kinds["REPORTING_YEAR_START_DAY"] == ("dataset", True), "its usage is mandatory by default"
    assert found.groups["G"].dimensions == ("FREQ",)
    [usage] = found.metadata_attribute_usages
    assert (usage.metadata_attribute, usage.relationship.dimensions) == ("CONTACT", ("FREQ",))
    [descriptor] = found.descriptors
    assert (descriptor.urn.cls, descriptor.annotations[0].id) == ("DimensionDescriptor", "n")
    assert found.evolving_structure
    assert found.metadata.cls == "MetadataStructure"
    assert (str(sample["DF"].structure), sample["DF"].dimension_constraint) == (DSD, ("FREQ",))


def test_organisations_and_categories(sample: dict[str, Any]) -> None:
    """Full contacts, parents, and nested categories with their whole path are kept."""
    [contact] = sample["AGENCIES"].organisations["B"].contacts
    assert (contact.id, dict(contact.names), dict(contact.departments)) == ("c", {"en": "Jo"}, {"en": "D"})
    assert (contact.telephones, contact.faxes, contact.x400s) == (("1",), ("2",), ("3",))
    assert (contact.uris, contact.emails) == (("http://example.org",), ("jo@example.org",))
    for scheme, item in (("DATA_PROVIDERS", "P"), ("DATA_CONSUMERS", "C"), ("METADATA_PROVIDERS", "MP")):
        assert sample[scheme].organisations[item].urn.cls + "Scheme" == sample[scheme].urn.cls
        assert sample[scheme].version == "1.0"
    assert sample["OUS"].organisations["V"].parent == "U"
    deep = sample["CATS"].item("ONE.TWO.X")
    assert (deep.id, deep.urn.item) == ("X", "ONE.TWO.X")
    assert (str(sample["CAT"].source), sample["CAT"].target.item) == (FLOW, "ONE.TWO")
    report = sample["RT"].reporting_categories["ONE"]
    assert [str(one) for one in report.structural_metadata] == [DSD]
    assert [str(one) for one in report.reporting_categories["TWO"].provisioning_metadata] == [FLOW]


def test_constraints_keep_regions_and_keys(sample: dict[str, Any]) -> None:
    """Regions and keys are kept with all properties of a value."""
    found = sample["CON"]
    assert (found.role, [str(one) for one in found.attachment.references]) == ("Allowed", [FLOW])
    [region] = found.cube_regions
    assert (region.include, region.annotations[0].id) == (False, "n")
    freq, time_period = region.key_values
    assert freq.remove_prefix
    assert [(one.value, one.cascade_values, one.language, one.valid_from) for one in freq.values] == [
        ("A", None, None, None), ("B", "excluderoot", "en", "2020"),
    ]  # fmt: skip
    bounds = time_period.time_range
    assert (bounds.start.period, bounds.start.is_inclusive, bounds.end.is_inclusive) == ("2000", False, True)
    assert (region.components[0].id, region.components[0].include) == ("A1", False)
    [keys] = found.key_sets
    assert not keys.is_included
    [key] = keys.keys
    assert [(one.id, [value.value for value in one.values]) for one in key.key_values] == [
        ("FREQ", ["A"]), ("AREA", ["X", "Y"]),
    ]  # fmt: skip
    assert key.valid_from == "2020"
    assert found.release_calendar.tolerance == "P2D"
    assert sample["MCON"].metadata_target_regions[0].components[0].id == "CONTACT.NAME"


def test_nested_codes_and_levels_are_kept(sample: dict[str, Any]) -> None:
    """A hierarchy keeps nested codes and nested levels, with their validity and formats."""
    found = sample["H"]
    assert [one.urn.item for one in found.walk()] == ["ONE", "ONE.TWO"]
    below = found.item("ONE.TWO")
    assert (below.code.item, below.level, below.valid_from, below.valid_to) == ("A", "L2", "2020", "2021")
    assert (found.level.coding_format.max_length, found.level.level.urn.item) == (1, "L1.L2")
    assert found.has_formal_levels
    assert (sample["HA"].linked_hierarchy.id, str(sample["HA"].context_object)) == ("H", FLOW)


def test_maps_of_all_kinds_are_kept(sample: dict[str, Any]) -> None:
    """Maps of components, dates, values and items are kept."""
    found = sample["SM"]
    assert (str(found.source), str(found.target)) == (DSD, FLOW)
    assert (found.component_maps[0].targets, found.component_maps[0].representation_map.id) == (("AREA", "FREQ"), "RM")
    assert (found.fixed_value_maps[0].target, found.fixed_value_maps[0].values) == ("AREA", ("X",))
    dates, epoch = found.date_pattern_maps[0], found.epoch_maps[0]
    assert (dates.id, dates.sources, dates.source_pattern, dates.frequency_dimension) == (
        "D", ("DATE",), "MM/yyyy", "FREQ",
    )  # fmt: skip
    assert (epoch.urn, epoch.epoch_period, epoch.target_frequency) == (None, "day", "M")
    assert (epoch.resolve_period, epoch.mapped_frequencies) == ("endOfPeriod", ("A",))
    formats = found.frequency_format_mappings[0]
    assert (formats.urn.item, formats.frequency, formats.date_pattern) == ("F", "A", "yyyy")
    values = sample["RM"]
    assert [str(one) for one in values.sources] == [CODELIST, "String"]
    first, second = values.mappings
    assert (first.sources[1].value, first.sources[1].is_reg_ex, first.sources[1].start_index) == ("^X", True, 1)
    assert (first.targets, first.valid_from, second.targets, second.annotations[0].id) == (("B",), "2020", (), "n")
    first, second = sample["CSM"].item_maps
    assert (first.source.value, first.target, second.source.is_reg_ex, second.target) == ("FREQ", "F", True, None)


def test_provisions_metadata_and_processes(sample: dict[str, Any]) -> None:
    """Provision agreements, metadata structures and processes keep all their parts."""
    assert (str(sample["PA"].dataflow), sample["PA"].data_provider.item) == (FLOW, "P")
    assert (sample["MPA"].metadataflow.id, sample["MPA"].metadata_provider.item) == ("MDF", "MP")
    assert sample["MPA"].targets == (f"{URN}datastructure.Dataflow=*:*(*)",)
    contact = sample["MSD"].metadata_attributes["CONTACT"]
    assert (contact.min_occurs, contact.max_occurs, contact.is_presentational) == (0, "unbounded", True)
    assert contact.metadata_attributes["NAME"].urn.item == "CONTACT.NAME"
    assert sample["MDF"].structure.id == "MSD"
    step = sample["PR"].steps["S1"]
    assert (step.inputs[0].local_id, str(step.outputs[0].object_reference)) == ("i", DSD)
    assert (step.computation.software_package, dict(step.computation.descriptions)) == ("p", {"en": "D"})
    [transition] = step.transitions
    assert (transition.target_step, dict(transition.conditions)) == ("S1.S2", {"en": "if"})
    assert (transition.urn.item, step.steps["S2"].urn.item) == ("S1.T", "S1.S2")


def test_vtl_schemes_are_kept(sample: dict[str, Any]) -> None:
    """Each kind of VTL scheme keeps the properties of its items."""
    one = sample["TS"].transformations["T1"]
    assert (sample["TS"].vtl_version, one.expression, one.result, one.is_persistent) == ("2.0", "a + b", "c", True)
    assert (sample["TS"].vtl_mapping_scheme.id, sample["TS"].ruleset_schemes[0].id) == ("VMS", "RS")
    rules = sample["RS"].rulesets["R1"]
    assert (rules.ruleset_definition, rules.ruleset_type, rules.ruleset_scope) == ("define", "datapoint", "variable")
    assert sample["UDOS"].operators["U1"].operator_definition == "define"
    kind = sample["CTS"].custom_types["C1"]
    assert (kind.vtl_scalar_type, kind.data_type, kind.null_value) == ("string", "String", "n")
    assert (kind.output_format, kind.vtl_literal_format) == ("o", "l")
    assert sample["NPS"].name_personalisations["N1"].personalised_name == "p"
    mappings = sample["VMS"].mappings
    assert {id_: one.urn.cls for id_, one in mappings.items()} == {
        "V1": "VtlDataflowMapping", "V2": "VtlCodelistMapping", "V3": "VtlConceptMapping", "V4": "VtlDataflowMapping",
    }  # fmt: skip
    assert (mappings["V1"].to_vtl.method, mappings["V1"].to_vtl.space_keys) == ("Pivot", ("FREQ",))
    assert (mappings["V1"].from_vtl.space_keys, mappings["V4"].mapped) == (("AREA",), None)


def test_constructs_of_1_0_are_kept(older: dict[str, Any]) -> None:
    """Constructs of 1.0 are kept.

    These are primary measures, measure dimensions, hierarchical codelists, structure sets, targets and reports.
    """
    found = older["DSD"]
    assert found.is_final
    assert {one.id: one.urn.cls for one in found.dimension_list.values()} == {
        "FREQ": "Dimension", "IND": "MeasureDimension", "TIME_PERIOD": "TimeDimension",
    }  # fmt: skip
    assert found.measures["OBS_VALUE"].urn.cls == "PrimaryMeasure"
    kinds = {one.id: one.relationship for one in found.attributes.values()}
    assert (kinds["A1"].kind, kinds["A1"].measures, found.attributes["A1"].mandatory) == (
        "observation", ("OBS_VALUE",), True,
    )  # fmt: skip
    assert (kinds["A2"].kind, kinds["A2"].groups, kinds["A3"].kind) == ("dimensions", ("G",), "dataset")
    assert found.attributes["RYSD"].urn.cls == "ReportingYearStartDay"
    concept = older["CS"].concepts["B"]
    assert (concept.parent, concept.iso_concept.scheme) == ("A", "S")
    constraint = older["CC"]
    assert (constraint.role, constraint.reference_period[0]) == ("Actual", "2000-01-01T00:00:00")
    assert constraint.attachment.simple_data_sources == ("http://example.org/d",)
    values = constraint.cube_regions[0].key_values[0].values
    assert [(one.value, one.cascade_values) for one in values] == [("A", None), ("B", "true")]
    [key] = constraint.metadata_key_sets[0].keys
    assert (key.report, key.metadata_target, key.key_values[0].data_sets[0].id) == ("R", "MT", "d")
    assert [str(one) for one in key.key_values[1].objects] == [FLOW]
    hierarchy = older["HCL"].hierarchies["H1"]
    assert (hierarchy.codes["ONE"].code.item, hierarchy.codes["ONE"].urn.item) == ("Z", "H1.ONE")
    assert hierarchy.codes["ONE"].codes["TWO"].level == "L1.L2"
    [codes], [structures] = older["SS"].scheme_maps, older["SS"].structure_maps
    assert (codes.urn.cls, codes.item_maps[0].source.value, codes.item_maps[0].target) == ("CodelistMap", "A", "B")
    by_list, by_values = structures.component_maps
    assert (by_list.source, by_list.target, by_list.codelist_map) == ("FREQ", "AREA", "CM")
    assert by_values.value_mappings == (("a", "b"),)
    target, report = older["MSD"].metadata_targets["MT"], older["MSD"].report_structures["R"]
    assert {one.urn.cls for one in target.target_objects.values()} == {"DataSetTarget", "IdentifiableObjectTarget"}
    assert (target.target_objects["IO"].object_type, report.metadata_targets) == ("Dataflow", ("MT",))
    assert older["PA"].dataflow is not None
    assert older["OUS"].organisations["V"].parent == "U"


def test_the_body_decides() -> None:
    """A body of 2.0 under a header of 1.0, or the reverse, is read according to the body."""
    assert dict(read_message(message(SAMPLE, "1.0")).artefacts) == dict(read_message(message(SAMPLE)).artefacts)
    assert dict(read_message(message(SAMPLE_1_0)).artefacts) == dict(read_message(message(SAMPLE_1_0, "1.0")).artefacts)


@pytest.mark.parametrize(
    ("collection", "attribute"),
    [
        ("codelists", "codes"), ("conceptSchemes", "concepts"), ("dataStructures", "dimension_list"),
        ("dataflows", "structure"), ("valueLists", "values"), ("categorySchemes", "categories"),
        ("hierarchies", "codes"), ("representationMaps", "mappings"), ("structureMaps", "component_maps"),
        ("dataConstraints", "cube_regions"), ("metadataStructures", "metadata_attributes"),
        ("transformationSchemes", "transformations"), ("agencySchemes", "organisations"),
    ],
)  # fmt: skip
def test_stubs_do_not_look_empty(collection: str, attribute: str) -> None:
    """A stub's content raises and names the stub; its address is kept."""
    links = [{"rel": "self", "href": "http://example.org/x"}]
    stub = only(message({collection: [artefact("X", isExternalReference=True, links=links)]}))
    assert stub.is_stub
    assert stub.structure_url == "http://example.org/x"
    with pytest.raises(UnreadableContentError, match="stub"):
        bool(getattr(stub, attribute))


def test_an_unknown_class_is_kept() -> None:
    """An artefact with a vendor's URN, of its own or in the link to itself, is kept whole."""
    vendor = f"{URN}reporting.ReportTemplate=A:R(1.0.0)"
    for parse_lenient in ({"urn": vendor}, {"links": [{"rel": "other"}, {"rel": "self", "urn": vendor}]}):
        data = {"reportTemplates": [artefact("R", own=[1], **parse_lenient)]}
        found = only(message(data))
        assert isinstance(found, OpaqueArtefact)
        assert (str(found.urn), found.name()) == (vendor, "R")
        assert json.loads(found.content)["data"] == data


JSON = [("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1")]


def items_in(found: Message) -> int:
    """Return the number of codes, concepts and values."""
    count = 0
    for one in found:
        if isinstance(one, Codelist) and not one.is_stub:
            count += len(one.codes)
        elif isinstance(one, ConceptScheme) and not one.is_stub:
            count += len(one.concepts)
        elif isinstance(one, ValueList):
            count += len(one.value_items)
    return count


@pytest.mark.parametrize("row", rows(*JSON))
def test_the_sdmx_json_corpus_equals_the_index(row: dict[str, str]) -> None:
    """Real files have as many artefacts of each class, and items, as the index says, and split without loss."""
    whole = read_message(data_of(row))
    expected = dict(part.split("=") for part in row["maintainables_by_type"].split(";"))
    counted = {CLASS_OF_COLLECTION[name.lower()]: int(count) for name, count in expected.items()}
    assert Counter(urn.cls for urn in whole.artefacts) == counted
    assert items_in(whole) == int(row[ITEMS])
    assert not [one for one in whole if isinstance(one, OpaqueArtefact)]
    for part in split_message(data_of(row)):
        assert dict(read_message(part.value, part.content_type).artefacts) == {part.urn: whole.artefacts[part.urn]}


# The corpus has many structures as Fusion-JSON and as SDMX-JSON. Files from which tests were made were edited by hand:
# here the files themselves differ, by file and class: facets of TIME_FORMAT and TITLE, keys, a link, isPartial, codes.
APART: dict[str, dict[str, set[str]]] = {
    **{
        name: {"DataStructure": {"attributes"}, "ConceptScheme": {"concepts"}, "DataConstraint": {"key_sets"}}
        for name in ("df__coded_measure", "df__excl_keyset_schema", "df__keyset_schema", "df__no_measure")
    },
    "dsd__dsd_partial_cs": {"DataStructure": {"attributes"}, "ConceptScheme": {"concepts"}},
    "dsd__dsd": {
        "Codelist": {"is_partial"},
        "DataStructure": {"links", "attributes"},
        "ConceptScheme": {"is_partial", "concepts"},
        "AgencyScheme": {"is_partial"},
    },
    # Where Fusion-JSON names no measures, SDMX-JSON names all measures.
    "dsd__dsd_attrs_rels": {"DataStructure": {"attributes"}},
    "cat__cs": {"Dataflow": {"links"}, "Categorisation": {"source"}},
    "df__flows": {"Dataflow": {"links"}},
    "df__no_hca": {"Codelist": {"names", "is_partial", "codes"}},
}


def twins() -> list[Any]:
    """Yield files of Fusion-JSON and SDMX-JSON made from the same structures, by the common part of their names."""
    stems = {
        path.name.split("__samples__")[-1].removesuffix(".fusion.json"): path for path in CORPUS.glob("fusion-*/*")
    }
    found = []
    for path in sorted(CORPUS.glob("sdmx-json-*/*__samples__*.json")):
        stem = path.name.split("__samples__")[-1].removesuffix(".json").removesuffix(".schema")
        if stem in stems:
            found.append(pytest.param(stem, stems[stem], path, marks=pytest.mark.corpus, id=path.name[-60:]))
    reason = "the shared corpus is not here (../shared/corpus beside the project): twins of real files are NOT compared"
    return found or [pytest.param("", None, None, marks=[pytest.mark.corpus, pytest.mark.skip(reason=reason)])]


@pytest.mark.parametrize(("stem", "left", "right"), twins())
def test_fusion_json_and_sdmx_json_give_equal_models(stem: str, left: Path, right: Path) -> None:
    """Twins in Fusion-JSON and SDMX-JSON give equal models, except where the files differ."""
    fusion, ours = read_message(left.read_bytes()).artefacts, read_message(right.read_bytes()).artefacts
    for urn in [one for one in fusion if one in ours]:
        one, other = fusion[urn], ours[urn]
        apart = {name for name in one.__struct_fields__ if getattr(one, name) != getattr(other, name)}
        assert apart <= APART.get(stem, {}).get(urn.cls, set()), urn


def test_there_are_twins() -> None:
    """The corpus has twins, where the corpus is available."""
    assert len(twins()) > 20 or not CORPUS.exists()


LANGUAGES = st.dictionaries(
    st.sampled_from(["en", "fr", "de"]), st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1)
)


@pytest.mark.thorough
@given(st.dictionaries(st.from_regex(r"[A-Za-z0-9_@$\-]{1,8}", fullmatch=True), LANGUAGES, max_size=8))
def test_any_codelist_is_the_same_as_in_xml(codes: dict[str, dict[str, str]]) -> None:
    """Random ids and texts are equal in SDMX-ML 3.0 and SDMX-JSON, and equal to the input."""
    body = "".join(
        f'<s:Code id="{id_}">'
        + "".join(f'<c:Name xml:lang="{language}">{escape(text)}</c:Name>' for language, text in texts.items())
        + "</s:Code>"
        for id_, texts in codes.items()
    )
    written = [{"id": id_, "names": texts, "name": next(iter(texts.values()), None)} for id_, texts in codes.items()]
    ours = only(message({"codelists": [{"id": "CL", "agencyID": "A", "version": "1.0", "codes": written}]}))
    assert ours == only(codelist_xml(body, version="3_0"))
    assert {id_: dict(code.names) for id_, code in ours.codes.items()} == codes


def code_list(**code: Any) -> bytes:
    """Return a message with a list of one code."""
    return message({"codelists": [artefact("CL", codes=[code])]})


def nest(depth: int, key: str, inner: dict[str, Any]) -> dict[str, Any]:
    """Return nested items."""
    for _ in range(depth):
        inner = {"id": "X", key: [inner]}
    return inner


HOSTILE = {
    "no id": code_list(name="x"),
    "bad id": code_list(id="a b"),
    "an id of two lines": code_list(id="A\nB"),
    "list as id": code_list(id=[5]),
    "id twice": message({"codelists": [artefact("CL", codes=[{"id": "A"}, {"id": "A"}])]}),
    "category twice": message({"categorySchemes": [artefact("C", categories=[named("A"), named("A")])]}),
    "component twice": message(
        {
            "dataStructures": [
                artefact("D", dataStructureComponents={"dimensionList": {"dimensions": [{"id": "A"}] * 2}})
            ]
        }
    ),
    "bad reference": message({"dataflows": [artefact("D", structure="nowhere")]}),
    "names a list": code_list(id="A", names=["x"]),
    "lone surrogate": code_list(id="A", name="X").replace(b'"X"', b'"\\ud800"'),
    "bad boolean": message({"codelists": [artefact("CL", isPartial="perhaps")]}),
    "huge number": message({"conceptSchemes": []}).replace(
        b'"conceptSchemes": []',
        b'"conceptSchemes":[{"id":"C","agencyID":"A","concepts":[{"id":"X","coreRepresentation":{"format":'
        b'{"maxLength":' + b"9" * 100_000 + b"}}}]}]",
    ),
    "not a number": message(
        {
            "conceptSchemes": [
                artefact("C", concepts=[{"id": "X", "coreRepresentation": {"format": {"minValue": "NaN"}}}])
            ]
        }
    ),
    "huge exponent": message(
        {
            "conceptSchemes": [
                artefact("C", concepts=[{"id": "X", "coreRepresentation": {"format": {"minValue": "1E99999999999"}}}])
            ]
        }
    ),
    "occurs": message(
        {"conceptSchemes": [artefact("C", concepts=[{"id": "X", "coreRepresentation": {"maxOccurs": "many"}}])]}
    ),
    "name twice": b'{"data":{"codelists":[{"id":"CL","agencyID":"A","codes":[],"codes":[{"id":"A"}]}]}}',
    "list twice": b'{"data":{"codelists":[],"codelists":[{"id":"CL","agencyID":"A"}]}}',
    "data twice": b'{"data":{"codelists":[]},"data":{"codelists":[{"id":"CL","agencyID":"A"}]}}',
    "deep categories": message({"categorySchemes": [artefact("C", categories=[nest(400, "categories", {"id": "X"})])]}),
    "deep codes": message(
        {"hierarchies": [artefact("H", hierarchicalCodes=[nest(400, "hierarchicalCodes", {"id": "X"})])]}
    ),
    "too deep": b'{"data":{"categorySchemes":[{"id":"C","agencyID":"A","categories":['
    + b'{"id":"X","categories":[' * 50_000,
    "meta a list": b'{"meta":[],"data":{"codelists":[]}}',
    "data a list": b'{"meta":{},"data":[]}',
    "no agency": message({"codelists": [{"id": "CL"}]}),
    "vendor's without urn": message({"things": [{"id": "T", "agencyID": "A"}]}),
    "selection of nothing": message({"dataConstraints": [artefact("C", cubeRegions=[{"keyValues": [{}]}])]}),
    "extension of nothing": message({"codelists": [artefact("C", codelistExtensions=[{}])]}),
    "mapping of nothing": message({"vtlMappingSchemes": [artefact("V", vtlMappings=[{"id": "X"}])]}),
    "value of nothing": message(
        {"dataConstraints": [artefact("C", cubeRegions=[{"keyValues": [{"id": "A", "values": [{}]}]}])]}
    ),
    "period of nothing": message({"contentConstraints": [artefact("C", referencePeriod={"startTime": "2000"})]}),
    "truncated": message(SAMPLE)[:-500],
    "invalid utf-8": code_list(id="A", name="X").replace(b'"X"', b'"\xff"'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_bad_input_is_refused_at_once(name: str) -> None:
    """Each bad input is refused with MessageError at once, in a message of bounded length."""
    started = time.thread_time()
    with pytest.raises(MessageError) as caught:
        read_message(HOSTILE[name])
    assert time.thread_time() - started < 5
    assert 20 < len(str(caught.value)) < 3000


@pytest.mark.thorough
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b:", "c", "é"]), st.integers(0, 99) | st.text(':"\\u03a', max_size=5)),
        max_size=4,
    ),
    st.booleans(),
    st.booleans(),
)
def test_a_name_that_comes_twice(members: list[tuple[str, Any]], is_compact: bool, is_ascii: bool) -> None:
    """A repeated name in an object is refused in every notation, and nothing else is."""
    colon, comma = (":", ",") if is_compact else (" : ", " ,\n")
    pairs = (f"{json.dumps(key, ensure_ascii=is_ascii)}{colon}{json.dumps(value)}" for key, value in members)
    data = ("[{" + comma.join(pairs) + "}]").encode()
    if len({key for key, _ in members}) == len(members):
        assert refuse_repeated(data) is None
    else:
        with pytest.raises(MessageError, match="duplicate"):
            refuse_repeated(data)


@pytest.mark.parametrize(
    "wrap",
    [
        gzip.compress,
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: b" \n" * 50 + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: json.dumps(json.loads(data), indent=3).encode(),
    ],
)
def test_gzip_and_layout_change_nothing(wrap: Any) -> None:
    """Packing in gzip, byte order marks, UTF-16, blanks and another layout change nothing."""
    data = message(SAMPLE)
    assert dict(read_message(wrap(data)).artefacts) == dict(read_message(data).artefacts)
    assert [part.urn for part in split_message(wrap(data))] == list(read_message(data).artefacts)


def test_availability_constraints_are_listed_beside_artefacts() -> None:
    """Availability constraints without an id are listed next to the artefacts."""
    region = {"keyValues": [{"id": "FREQ", "values": ["A"]}]}
    written = {"constraintAttachment": {"dataflow": FLOW}, "cubeRegion": region, "seriesCount": 3, "obsCount": 9}
    found = read_message(message({"availabilityConstraints": [written], "dataflows": [artefact("DF")]}, "2.1.0"))
    assert [urn.id for urn in found.artefacts] == ["DF"]
    [one] = found.availability_constraints
    assert one.attachment is not None
    assert [str(urn) for urn in one.attachment.references] == [FLOW]
    assert (one.cube_regions[0].key_values[0].id, one.series_count, one.obs_count) == ("FREQ", 3, 9)
    assert read_message(message({"availabilityConstraints": None})).availability_constraints == ()
    with pytest.raises(MessageError, match="availability"):
        read_message(message({"availabilityConstraints": [{"constraintAttachment": {"dataflow": "x"}}]}))


def test_known_deviations_of_registries_are_accepted() -> None:
    """Deviations of registries are accepted: numbers and booleans as texts, null for absent values, foreign keys."""
    code: dict[str, Any] = {"id": "A", "name": "A", "names": {"en": "A", "fr": None}, "descriptions": {"en": None}}
    code |= {"annotations": None, "links": None, "x-extension": {"a": [1]}}
    found = only(message({"codelists": [artefact("CL", isPartial="true", annotations=None, x_own=1, codes=[code])]}))
    assert found.is_partial
    assert found.codes["A"].name() == "A"
    assert read_message(b'{"meta":null,"data":{"codelists":null}}').artefacts == {}
    core = {"format": {"maxLength": "3", "minValue": "1.5"}, "minOccurs": "0", "maxOccurs": "5"}
    found = only(message({"conceptSchemes": [artefact("CS", concepts=[named("A", coreRepresentation=core)])]}))
    written = found.concepts["A"].core_representation
    assert (written.min_occurs, written.max_occurs, written.format.max_length) == (0, 5, 3)


def test_format_of_the_message() -> None:
    """The header's schema determines the edition; without a schema the content type does."""
    body = b'{"data":{"codelists":[]}}'
    assert read_message(body).format is Format.SDMX_JSON_2_0
    assert read_message(body, Format.SDMX_JSON_1_0).format is Format.SDMX_JSON_1_0
    schema = "https://json.sdmx.org/2.1/sdmx-json-structure-schema.json"
    data = json.dumps({"$schema": schema, "data": {"dataflows": [artefact("A"), artefact("B")]}}).encode()
    assert read_message(data).format is Format.SDMX_JSON_2_1
    assert [read_message(part.value).format for part in split_message(data)] == [Format.SDMX_JSON_2_1] * 2
