"""Maintainable classes in SDMX-ML 2.1, 3.0 and 3.1: the model has all content of the samples."""

from __future__ import annotations

import pickle
import re
import threading
from decimal import Decimal
from typing import Any

import pytest

from kafka_replica.sdmx import (
    Codelist,
    Dataflow,
    DataStructure,
    Format,
    InternationalString,
    Urn,
    read_message,
    split_message,
    write_message,
)
from kafka_replica.sdmx.containers import Items, StubItems, StubTuple
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.model import (
    ARTEFACTS,
    Categorisation,
    GeoFeatureSetCode,
    ItemScheme,
    Maintainable,
    MetadataSet,
    MetadataStructure,
    PeriodBound,
    StructureSet,
)
from support.paths import SDMX_DATA
from support.sdmx.ml_messages_by_hand import EVERY, METADATA, ML, codelist_xml, only, xml
from support.sdmx.standard_schemas import faults

OLD = (SDMX_DATA / "old_classes.sdmx21.xml").read_bytes()
NOT_IN_3 = {"ContentConstraint", "AttachmentConstraint", "HierarchicalCodelist", "StructureSet"}
# These classes are in messages of another kind, or in Fusion-JSON alone.
ELSEWHERE = {"MetadataSet", "Registration"}


def found(data: bytes) -> dict[str, Any]:
    """Return the artefacts by class and id."""
    return {f"{one.urn.cls}:{one.id}": one for one in read_message(data)}


@pytest.fixture(scope="module")
def new() -> dict[str, Any]:
    """The sample of 3.0."""
    return found(EVERY)


@pytest.fixture(scope="module")
def old() -> dict[str, Any]:
    """The sample of 2.1."""
    return found(OLD)


def test_every_class_is_there(new: dict[str, Any], old: dict[str, Any]) -> None:
    """The samples have all classes, and each is read into its own struct."""
    assert {one.urn.cls for one in new.values()} == set(ARTEFACTS) - NOT_IN_3 - ELSEWHERE
    assert {one.urn.cls for one in old.values()} >= NOT_IN_3
    for one in (*new.values(), *old.values()):
        assert type(one) is ARTEFACTS[one.urn.cls]
        assert one.name("en")
        assert not one.is_stub


@pytest.mark.parametrize("data", [EVERY, OLD], ids=["3.0", "2.1"])
def test_each_artefact_equals_its_own_part(data: bytes) -> None:
    """Each artefact read from its own part is equal, and all can be hashed, pickled and shown."""
    whole = read_message(data)
    for part in split_message(data):
        [one] = read_message(part.value)
        assert one == whole.artefacts[part.urn]
        assert hash(one) == hash(whole.artefacts[part.urn])
        assert pickle.loads(pickle.dumps(one)) == one
        assert repr(one)


def test_artefacts_of_3_1_equal_those_of_3_0() -> None:
    """A message in the namespaces of 3.1 gives artefacts equal to those of 3.0."""
    assert list(read_message(EVERY.replace(b"v3_0", b"v3_1"))) == list(read_message(EVERY))


def test_organisations_keep_contacts_parents_and_languages(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Organisations keep all kinds of contacts, parents, annotations, links and several languages."""
    agency = new["AgencyScheme:AGENCIES"].items["SUB"]
    [contact] = agency.contacts
    assert (contact.id, contact.names["en"], contact.departments["en"], contact.roles["en"]) == (
        "C1", "Ann", "Statistics", "Desk",
    )  # fmt: skip
    assert (contact.telephones, contact.faxes, contact.x400s) == (("+1",), ("+2",), ("x4",))
    assert (contact.uris, contact.emails) == (("http://example.org",), ("a@example.org", "b@example.org"))
    assert dict(agency.names) == {"en": "Sub agency", "fr": "Sous-agence"}
    [note] = agency.annotations
    assert (note.id, note.title, note.type, note.value, dict(note.text)) == ("n", "t", "k", "v", {"fr": "x"})
    assert dict(note.urls) == {"en": "http://example.org/a", "fr": "http://example.org/b"}
    [link] = agency.links
    assert (link.rel, link.url, link.type, link.urn) == ("self", "http://example.org/x", "html", None)
    assert str(agency.urn) == "urn:sdmx:org.sdmx.infomodel.base.Agency=KR:AGENCIES(1.0).SUB"
    assert new["AgencyScheme:AGENCIES"].is_partial
    assert new["OrganisationUnitScheme:OUS"] == old["OrganisationUnitScheme:OUS"]
    assert new["OrganisationUnitScheme:OUS"].organisations["U2"].parent == "U1"


def test_categories_have_their_whole_path(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Nested categories have their whole path; both notations of a categorisation are equal."""
    scheme = new["CategoryScheme:CATS"]
    assert [one.urn.item for one in scheme.categories["A"].walk()] == ["A", "A.B", "A.C"]
    assert scheme.item("A.C") is scheme.categories["A"].categories["C"]
    assert (scheme.item("A.X"), scheme.item("C")) == (None, None)
    assert new["Categorisation:CAT1"] == old["Categorisation:CAT1"]
    assert str(new["Categorisation:CAT1"].target).endswith("Category=KR:CATS(1.0).A.B")
    taxonomy = new["ReportingTaxonomy:RT"].reporting_categories["R1"]
    assert [one.id for one in taxonomy.structural_metadata] == ["DSD"]
    assert [one.id for one in taxonomy.reporting_categories["R2"].provisioning_metadata] == ["FLOW"]


def test_codelists_keep_validity_extensions_and_flags(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Codelists keep validity, extensions, geography, values that are not ids, and the flags of 2.1."""
    codelist = new["Codelist:CL"]
    assert (codelist.version, codelist.valid_from, codelist.valid_to) == (
        "1.0.0-draft", "2020-01-01T00:00:00", "2021-01-01T00:00:00",
    )  # fmt: skip
    [extension] = codelist.extensions
    assert (extension.prefix, extension.inclusive) == ("X_", ())
    assert [(one.value, one.cascade_values) for one in extension.exclusive] == [("A%", "excluderoot")]
    assert (codelist.codes["Y"].uri, codelist.codes["Y"].parent) == ("http://example.org/y", "Z")
    assert codelist.codes["Z"].description() == "Last"
    assert (old["Codelist:CL"].is_final, old["Codelist:CL"].is_partial) == (True, True)
    assert [one.parent for one in old["Codelist:CL"].codes.values()] == [None, "Z", "Y"]
    assert old["Codelist:CL"].codes["Y"].annotations[0].url == "http://example.org"
    geo, grid = new["GeographicCodelist:GEO"], new["GeoGridCodelist:GRID"]
    assert isinstance(geo, Codelist)
    feature = geo.codes["N"]
    assert isinstance(feature, GeoFeatureSetCode)
    assert feature.value == "4326,1:{(POINT(1 2))}"
    assert (geo.codes["NN"].parent, geo.codes["NN"].urn.cls) == ("N", "GeoFeatureSetCode")
    assert (grid.grid_definition, grid.codes["G1"].geo_cell) == ("4326:1,1;2,2", "1,1")
    assert [one.id for one in new["ValueList:VL"].values] == ["$", "¥"]


def test_concepts_keep_facets_sentinels_and_occurrences(new: dict[str, Any]) -> None:
    """Concepts keep facets, sentinel values, occurrences and ISO concepts."""
    concept = new["ConceptScheme:CS"].concepts["A"]
    core = concept.core_representation
    assert (core.min_occurs, core.max_occurs, core.format.max_value) == (0, "unbounded", Decimal("9.5"))
    assert [(one.value, one.names["en"]) for one in core.format.sentinel_values] == [("-1", "None")]
    assert (concept.iso_concept.agency, concept.iso_concept.scheme, concept.iso_concept.id) == ("ISO", "S", "I")
    assert new["ConceptScheme:CS"].concepts["B"].parent == "A"


def test_data_structures_keep_relationships_and_roles(new: dict[str, Any]) -> None:
    """Data structures keep the relationships of 3.0, metadata attributes, descriptors and roles."""
    found_ = new["DataStructure:DSD"]
    kinds = {id_: one.relationship.kind for id_, one in found_.attributes.items()}
    assert kinds == {"A1": "observation", "A2": "dataset", "A3": "group"}
    assert found_.attributes["A1"].relationship.measures == ("OBS_VALUE",)
    assert found_.attributes["A1"].representation.max_occurs == "unbounded"
    [usage] = found_.metadata_attribute_usages
    assert (usage.metadata_attribute, usage.relationship.dimensions) == ("CONTACT", ("FREQ",))
    [descriptor] = found_.descriptors
    assert (descriptor.id, descriptor.annotations[0].type) == ("DimensionDescriptor", "order")
    assert found_.metadata.id == "MSD"
    assert [one.item for one in found_.dimensions["FREQ"].concept_roles] == ["B"]
    assert found_.measures["OBS_VALUE"].mandatory


def test_constraint_of_3_0(new: dict[str, Any]) -> None:
    """A constraint of 3.0 keeps regions, keys, cascades, wildcards, time ranges, validity, calendar and sources."""
    constraint = new["DataConstraint:DC"]
    assert constraint.role == "Allowed"
    assert [one.id for one in constraint.attachment.references] == ["FLOW"]
    [source] = constraint.attachment.queryable_data_sources
    assert (source.data_url, source.wadl_url, source.is_rest, source.is_web_service) == (
        "http://example.org/data", "http://example.org/wadl", True, False,
    )  # fmt: skip
    calendar = constraint.release_calendar
    assert (calendar.periodicity, calendar.offset, calendar.tolerance) == ("P1M", "P1D", "P2D")
    allowed, not_allowed = constraint.cube_regions
    assert (allowed.include, not_allowed.include) == (True, False)
    area, time = allowed.key_values
    assert (area.remove_prefix, area.valid_from, area.include, time.include) == (True, "2020", True, False)
    assert [(one.value, one.cascade_values) for one in area.values] == [
        ("EU", "true"), ("OECD", "excluderoot"), ("US%", None),
    ]  # fmt: skip
    assert (area.values[1].valid_from, area.values[1].valid_to) == ("2021", "2022")
    assert time.time_range.start == PeriodBound(period="2000")
    assert time.time_range.end == PeriodBound(period="2010", is_inclusive=False)
    title, date = allowed.components
    assert title.values[0].language == "fr"
    assert (date.time_range.before.period, date.time_range.valid_to) == ("1999", "2030-01-01")
    [key] = constraint.key_sets[0].keys
    assert constraint.key_sets[0].is_included
    assert [(one.id, one.values[0].value) for one in (*key.key_values, *key.components)] == [
        ("FREQ", "A"), ("SEX", "%"), ("OBS_STATUS", "N"),
    ]  # fmt: skip
    assert key.valid_from == "2020-01-01"
    [region] = new["MetadataConstraint:MC"].metadata_target_regions
    assert region.components[0].id == "CONTACT.NAME"


def test_constraints_of_2_1(old: dict[str, Any]) -> None:
    """Constraints of 2.1 keep references to data sets, metadata targets, nested keys, and the reference period."""
    attachment = old["AttachmentConstraint:AC"]
    [data_set] = attachment.attachment.data_sets
    assert (data_set.provider.item, data_set.id) == ("P1", "SET1")
    assert attachment.key_sets[0].is_included is False
    content = old["ContentConstraint:CC"]
    assert (content.role, content.reference_period) == ("Allowed", ("2020-01-01T00:00:00", "2021-01-01T00:00:00"))
    assert content.attachment.queryable_data_sources[0].wsdl_url == "http://example.org/wsdl"
    [region] = content.cube_regions
    assert (region.include, region.key_values[0].values[0].cascade_values) == (False, "true")
    assert (region.components[0].id, region.components[0].include) == ("OBS_STATUS", False)
    [target] = content.metadata_target_regions
    assert (target.report, target.metadata_target, target.key_values[0].objects[0].id) == ("R", "T", "FLOW")
    [key] = content.metadata_key_sets[0].keys
    assert key.key_values[0].data_keys[0].key_values[0].values[0].value == "A"


def test_hierarchies_keep_levels_codes_and_validity(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Hierarchies keep nested levels and codes and their validity; 2.1 names codes by their codelist's alias."""
    hierarchy = new["Hierarchy:H"]
    assert hierarchy.has_formal_levels
    assert (hierarchy.level.id, hierarchy.level.coding_format.max_length, hierarchy.level.level.urn.item) == (
        "L1", 2, "L1.L2",
    )  # fmt: skip
    first, second = hierarchy.walk()
    assert (first.code.item, first.level, first.valid_from) == ("Z", "L1", "2020-01-01T00:00:00")
    assert (second.code.item, second.level, second.urn.item) == ("Y", "L2", "A.B")
    assert hierarchy.item("A.B") is second
    association = new["HierarchyAssociation:HA"]
    assert association.linked_hierarchy == hierarchy.urn
    assert (association.linked_object.cls, association.context_object.id) == ("Dimension", "FLOW")
    within = old["HierarchicalCodelist:HCL"].hierarchies["H1"]
    assert within.has_formal_levels
    first, second = within.walk()
    assert (first.codelist_alias, first.code_id, str(first.code)) == (
        "AL", "Z", "urn:sdmx:org.sdmx.infomodel.codelist.Code=KR:CL(1.0).Z",
    )  # fmt: skip
    assert (first.version, second.code.item, second.level) == ("1.0", "Y", "L1.L2")
    assert second.urn.item == "H1.A.B"
    assert old["HierarchicalCodelist:HCL"].item("H1.A.B") is second


def test_metadata_structures_keep_attributes_and_targets(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Metadata structures keep nested attributes, targets and reports of 2.1, and targets with wildcards."""
    contact = new["MetadataStructure:MSD"].metadata_attributes["CONTACT"]
    assert (contact.min_occurs, contact.max_occurs, contact.is_presentational) == (0, "unbounded", True)
    name = contact.metadata_attributes["NAME"]
    assert (name.urn.item, name.max_occurs, name.representation.format.text_type) == ("CONTACT.NAME", 2, "XHTML")
    assert new["Metadataflow:MDF"].targets == ("urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=*:*(*)",)
    assert new["Metadataflow:MDF"].structure == old["Metadataflow:MDF"].structure
    agreement = new["MetadataProvisionAgreement:MPA"]
    assert (agreement.metadataflow.id, agreement.metadata_provider.item, len(agreement.targets)) == ("MDF", "MP", 1)
    before = old["MetadataStructure:MSD"]
    [target] = before.metadata_targets.values()
    assert [one.urn.cls for one in target.target_objects.values()] == [
        "DimensionDescriptorValuesTarget", "DataSetTarget", "ReportPeriodTarget", "IdentifiableObjectTarget",
    ]  # fmt: skip
    assert target.target_objects["IO"].object_type == "Dataflow"
    report = before.report_structures["R"]
    assert (report.metadata_targets, report.metadata_attributes["CONTACT"].metadata_attributes["NAME"].urn.item) == (
        ("T",), "R.CONTACT.NAME",
    )  # fmt: skip


def test_maps_keep_all_their_parts(new: dict[str, Any]) -> None:
    """Structure maps with all their parts, representation maps and maps of schemes are kept."""
    structure = new["StructureMap:SM"]
    assert (structure.source.id, structure.target.id) == ("FLOW", "FLOW2")
    assert [(one.sources, one.targets) for one in structure.component_maps] == [(("A", "B"), ("C",)), (("X",), ("Y",))]
    assert structure.component_maps[0].representation_map == new["RepresentationMap:RM"].urn
    assert [(one.source, one.target, one.values) for one in structure.fixed_value_maps] == [
        (None, "OBS_STATUS", ("A",)), ("CONF", None, ("F", "C")),
    ]  # fmt: skip
    [epoch] = structure.epoch_maps
    assert (epoch.id, epoch.base_period, epoch.epoch_period, epoch.target_frequency) == ("E1", "1970", "second", "A")
    [pattern] = structure.date_pattern_maps
    assert (pattern.id, pattern.source_pattern, pattern.locale, pattern.resolve_period) == (
        None, "MM/yyyy", "en", "endOfPeriod",
    )  # fmt: skip
    assert (pattern.frequency_dimension, pattern.mapped_frequencies) == ("FREQ", ("A", "M"))
    [frequency] = structure.frequency_format_mappings
    assert (frequency.frequency, frequency.date_pattern, frequency.urn.item) == ("A", "yyyy", "F1")
    representation = new["RepresentationMap:RM"]
    assert [str(one).rpartition("=")[2] for one in representation.sources] == ["KR:CL(1.0)", "String"]
    assert [one.cls for one in representation.targets] == ["ValueList"]
    first, second = representation.mappings
    assert [(one.value, one.is_reg_ex) for one in first.sources] == [("Z", False), ("a(.*)", True)]
    assert (first.targets, first.valid_from, first.annotations[0].title) == (("$1",), "2020-01-01", "t")
    assert (second.targets, second.sources[0].start_index, second.sources[0].end_index) == ((), 0, 2)
    one, other = new["CategorySchemeMap:CSM"].item_maps
    assert (one.source.value, one.source.is_reg_ex, one.target, one.valid_to) == ("A.*", True, "B", "2021-01-01")
    assert other.target is None
    assert new["OrganisationSchemeMap:OSM"].source.cls == "DataProviderScheme"
    assert new["ConceptSchemeMap:CSM"].target.id == "CS2"
    assert new["ReportingTaxonomyMap:RTM"].item_maps[0].target == "R9"


def test_structure_sets_keep_maps_of_all_kinds(old: dict[str, Any]) -> None:
    """Structure sets keep scheme maps of all kinds, with equal ids in different kinds, and structure maps' values."""
    whole = old["StructureSet:SS"]
    assert [one.id for one in whole.related_structures] == ["DSD"]
    assert [(one.urn.cls, one.id) for one in whole.scheme_maps] == [
        ("OrganisationSchemeMap", "OM"), ("CodelistMap", "CM"), ("ConceptSchemeMap", "CM"),
    ]  # fmt: skip
    assert all(one.urn.package == "mapping" for one in whole.scheme_maps)
    [row] = whole.scheme_maps[1].item_maps
    assert (row.source.value, row.target, row.annotations[0].title) == ("Z", "ZZ", "t")
    [structure] = whole.structure_maps
    by_list, by_format, by_value = structure.component_maps
    assert (structure.is_extension, by_list.source, by_list.target, by_list.codelist_map) == (
        True, "FREQ", "FREQUENCY", "CM",
    )  # fmt: skip
    assert (by_format.to_text_format.text_type, by_format.to_value_type) == ("String", "Name")
    assert by_value.value_mappings == (("1", "2"),)


def test_processes_keep_nested_steps_and_transitions(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Processes keep nested steps, inputs and outputs, computations, and transitions with and without ids."""
    step = new["Process:PR"].steps["S1"]
    assert [(one.object_reference.id, one.local_id) for one in (*step.inputs, *step.outputs)] == [
        ("FLOW", "I1"), ("CL", None),
    ]  # fmt: skip
    computation = step.computation
    assert (computation.software_package, computation.software_language, computation.software_version) == (
        "R",
        "S",
        "4",
    )
    assert (computation.local_id, computation.descriptions["en"]) == ("C1", "adds")
    first, second = step.transitions
    assert (first.urn.item, first.target_step, first.conditions["en"], first.local_id) == (
        "S1.T1", "S1.S2", "always", "L",
    )  # fmt: skip
    assert second.urn is None
    assert new["Process:PR"].item("S1.S2").name() == "S2"
    assert old["Process:PR"].steps["S1"].transitions[0].target_step == "S1"
    assert new["ProvisionAgreement:PA"] == old["ProvisionAgreement:PA"]
    assert new["ProvisionAgreement:PA"].dataflow.id == "FLOW"


def test_vtl_schemes_keep_their_content(new: dict[str, Any], old: dict[str, Any]) -> None:
    """All kinds of VTL schemes keep their content."""
    scheme = new["TransformationScheme:TS"]
    step = scheme.transformations["T1"]
    assert (scheme.vtl_version, step.expression, step.result, step.is_persistent) == ("2.0", "a + b", "c", True)
    assert [
        scheme.vtl_mapping_scheme.id, scheme.name_personalisation_scheme.id, scheme.custom_type_scheme.id,
        scheme.ruleset_schemes[0].id, scheme.user_defined_operator_schemes[0].id,
    ] == ["VMS", "NPS", "CTS", "RS", "UDO"]  # fmt: skip
    ruleset = new["RulesetScheme:RS"].rulesets["R"]
    assert (ruleset.ruleset_definition, ruleset.ruleset_type, ruleset.ruleset_scope) == (
        "define datapoint ruleset r", "datapoint", "variable",
    )  # fmt: skip
    assert new["UserDefinedOperatorScheme:UDO"].operators["O"].operator_definition == "define operator o()"
    custom = new["CustomTypeScheme:CTS"].custom_types["T"]
    assert (custom.vtl_scalar_type, custom.data_type, custom.vtl_literal_format) == ("STRING", "String", "f")
    assert (custom.output_format, custom.null_value) == ("o", "null")
    name = new["NamePersonalisationScheme:NPS"].name_personalisations["N"]
    assert (name.vtl_artefact, name.vtl_default_name, name.personalised_name) == ("variable", "a", "b")
    mappings = new["VtlMappingScheme:VMS"].mappings
    assert [one.urn.cls for one in mappings.values()] == [
        "VtlDataflowMapping", "VtlCodelistMapping", "VtlConceptMapping", "VtlDataflowMapping",
    ]  # fmt: skip
    assert (mappings["M1"].alias, mappings["M1"].to_vtl.method, mappings["M1"].to_vtl.space_keys) == (
        "DS", "Pivot", ("FREQ",),
    )  # fmt: skip
    assert (mappings["M1"].from_vtl.space_keys, mappings["M4"].mapped) == (("AREA",), None)
    assert old["VtlMappingScheme:VMS"].mappings["M1"].mapped.cls == "ConceptScheme"


def test_additions_of_3_1_are_kept() -> None:
    """The additions of 3.1 are kept.

    These are extensible structures, flows that use some of the dimensions, missing languages, and data availability.
    """
    flow = (
        '<s:Dataflows><s:Dataflow id="F" agencyID="A" version="1.0" isPartialLanguage="true"><s:DimensionConstraint>'
        "<s:Dimension>FREQ</s:Dimension><s:Dimension>SEX</s:Dimension></s:DimensionConstraint></s:Dataflow></s:Dataflows>"
    )
    structure = (
        '<s:DataStructures><s:DataStructure id="D" agencyID="A" version="1.0" evolvingStructure="true"/>'
        "</s:DataStructures>"
    )
    available = (
        '<s:AvailabilityConstraints><s:AvailabilityConstraint seriesCount="3" obsCount="9"><s:ConstraintAttachment>'
        "<s:Dataflow>urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=A:F(1.0)</s:Dataflow></s:ConstraintAttachment>"
        '<s:CubeRegion><s:KeyValue id="FREQ"><s:Value>A</s:Value></s:KeyValue></s:CubeRegion>'
        "</s:AvailabilityConstraint></s:AvailabilityConstraints>"
    )
    message = read_message(xml(flow + structure + available, "3_1"))
    dataflow, data_structure = message
    assert isinstance(dataflow, Dataflow)
    assert isinstance(data_structure, DataStructure)
    assert (dataflow.is_partial_language, dataflow.dimension_constraint) == (True, ("FREQ", "SEX"))
    assert data_structure.evolving_structure
    [constraint] = message.availability_constraints
    assert (constraint.series_count, constraint.obs_count) == (3, 9)
    assert constraint.cube_regions[0].key_values[0].values[0].value == "A"


def test_a_metadata_set_keeps_texts_xhtml_and_values() -> None:
    """A metadata set is in a message of its own kind; texts, XHTML and values are kept in their order."""
    one = only(METADATA, MetadataSet)
    assert (one.action, one.metadataflow.id, one.targets[0][-6:]) == ("Replace", "F", "A:*(*)")
    [contact] = one.attributes
    name, note, year = contact.attributes
    assert dict(name.texts) == {"en": "Ann", "fr": "Anne"}
    assert note.structured_texts["en"] == 'a <p xmlns="http://www.w3.org/1999/xhtml">b <b>c</b>\n</p> &lt; d'
    assert year.values == ("2020", "2021")
    [part] = split_message(METADATA)
    assert only(part.value, MetadataSet) == one
    assert part.urn == Urn.of("MetadataSet", "A", "MS", "1.0")


def stub(cls: str) -> Maintainable:
    """Return an external reference of a class."""
    body = f'<s:{cls} id="X" agencyID="A" version="1.0" isExternalReference="true" serviceURL="http://example.org"/>'
    [one] = read_message(xml(f"<s:Things>{body}</s:Things>", "2_1" if cls in NOT_IN_3 else "3_0"))
    return one


@pytest.mark.parametrize("cls", sorted(set(ARTEFACTS) - ELSEWHERE))
def test_a_stub_raises_when_a_part_is_requested(cls: str) -> None:
    """A stub of any class is recognised, and raises whenever one of its parts is requested."""
    one = stub(cls)
    assert type(one) is ARTEFACTS[cls]
    assert one.is_stub
    assert one.service_url == "http://example.org"
    parts = [getattr(one, name) for name in type(one).__struct_fields__]
    for part in parts:
        if isinstance(part, (StubItems, StubTuple)):
            with pytest.raises(UnreadableContentError, match="stub"):
                len(part)
            with pytest.raises(UnreadableContentError, match="stub"):
                list(part)
    if isinstance(one, ItemScheme):
        with pytest.raises(UnreadableContentError, match="stub"):
            one.item("A")
    assert one == stub(cls)
    assert pickle.loads(pickle.dumps(one)) == one


def test_an_external_reference_with_content_is_no_stub() -> None:
    """An external reference with content is not a stub: its content is available, whatever the flag."""
    whole = only(codelist_xml('<s:Code id="A"/>', 'isExternalReference="true"'), Codelist)
    assert (whole.is_external_reference, whole.is_stub, list(whole.codes)) == (True, False, ["A"])


def thing(cls: str, inside: str) -> bytes:
    """Return a message with one artefact of a class."""
    return xml(f'<s:Things><s:{cls} id="C" agencyID="A">{inside}</s:{cls}></s:Things>', "3_0")


TWICE = '<s:Category id="A"><s:Category id="B"/><s:Category id="B"/></s:Category>'
CASCADE = '<s:CubeRegion><s:KeyValue id="K"><s:Value cascadeValues="up">1</s:Value></s:KeyValue></s:CubeRegion>'


@pytest.mark.parametrize(
    ("cls", "inside", "reason"),
    [
        ("CategoryScheme", "<s:Category/>", "no id"),
        ("CategoryScheme", TWICE, "is duplicated|duplicate element"),
        ("DataConstraint", "<s:CubeRegion><s:KeyValue/></s:CubeRegion>", "no id"),
        ("DataConstraint", CASCADE, "cascadeValues"),
        ("StructureMap", '<s:EpochMap basePeriod="1970"/>', "epochPeriod"),
        ("ConceptSchemeMap", "<s:ItemMap/>", "SourceValue"),
        ("Process", '<s:ProcessStep id="S"><s:Transition/></s:ProcessStep>', "TargetStep"),
        ("Codelist", '<s:Code id="A"/><s:Code/>', "no id"),
        ("Codelist", '<s:Code id="A"/><s:Code id="a b"/>', "cannot be an id"),
        ("Codelist", '<s:Code id="A"/><s:Code id="A&#10;"/>', "is duplicated|duplicate element"),
    ],
)
def test_a_part_without_identification_is_refused(cls: str, inside: str, reason: str) -> None:
    """A part without its identifying content is refused with its location, not left out."""
    with pytest.raises(MessageError, match=reason):
        read_message(thing(cls, inside))


@pytest.mark.thorough
def test_items_deep_in_items() -> None:
    """Items nested as deep as XML allows are read, or refused with our error."""
    for depth in (200, 300, 100_000):
        body = "".join(f'<s:Category id="C{n}">' for n in range(depth)) + "</s:Category>" * depth
        data = xml(f'<s:X><s:CategoryScheme id="C" agencyID="A">{body}</s:CategoryScheme></s:X>', "3_0")
        if depth == 200:
            [scheme] = read_message(data)
            assert isinstance(scheme, ItemScheme)
            assert len(list(scheme.items["C0"].walk())) == 200
        else:
            with pytest.raises(MessageError):
                read_message(data)


PLAIN = "".join(f'<s:Code id="C{n}"><c:Name xml:lang="en">N{n}</c:Name><c:Name>M</c:Name></s:Code>' for n in range(50))


def test_all_threads_get_the_same_code_objects() -> None:
    """Codes are made on first access, and all threads get the same objects."""
    codelist = only(codelist_xml(PLAIN), Codelist)
    gate = threading.Barrier(8)
    given: list[list[Any]] = []

    def ask() -> None:
        gate.wait()
        given.append(list(codelist.codes.values()))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 8
    assert all(one is other for codes in given for one, other in zip(codes, given[0], strict=True))
    assert [code.names.texts for code in given[0]] == [(("en", f"N{n}"), ("en", "M")) for n in range(50)]
    assert pickle.loads(pickle.dumps(codelist)) == codelist


@pytest.mark.parametrize(
    "extra",
    [
        '<s:Code id="X"><c:Annotations/><c:Name>N</c:Name></s:Code>',
        '<s:Code id="X"><c:Name>N<!-- a comment --></c:Name></s:Code>',
        '<s:Code id="X"><c:Name>N</c:Name><v:Own xmlns:v="urn:v"><v:Name>other</v:Name></v:Own></s:Code>',
        '<s:Code id="X"><c:Name>N</c:Name><s:Code id="INNER"/></s:Code>',
        '<v:Own xmlns:v="urn:v"/><s:Code id="X"><c:Name>N</c:Name></s:Code>',
        '<s:Code id="X"><c:Name>N</c:Name><s:Parent/></s:Code>',
        '<s:Code id="X"><c:Name>N</c:Name><s:Parent><Ref/></s:Parent></s:Code>',
    ],
)
def test_codes_that_are_not_plain(extra: str) -> None:
    """A single unusual code is read correctly and changes nothing for the others."""
    plain = only(codelist_xml(PLAIN), Codelist)
    whole = only(codelist_xml(PLAIN + extra + '<s:Code id="Z"><c:Name>Z</c:Name></s:Code>'), Codelist)
    assert list(whole.codes) == [*plain.codes, "X", "Z"]
    assert [whole.codes[id_] for id_ in plain.codes] == list(plain.codes.values())
    assert (whole.codes["X"].names.texts, whole.codes["X"].parent) == ((("en", "N"),), None)
    assert whole.codes["Z"].name() == "Z"
    assert isinstance(whole.codes, Items)


@pytest.mark.parametrize(
    "extra",
    [
        f'<o:Code xmlns:o="{ML}3_0/structure" id="X"><c:Name>X</c:Name></o:Code>',
        f'<o:Code xmlns:o="{ML}3_0/structure" id="X"><c:Name>X</c:Name></o:Code><s:Code id="Y"/>',
        f'<o:Code xmlns:o="{ML}3_0/structure" id="X"><c:Name>X</c:Name><s:Code id="INNER"/></o:Code>',
        f'<o:Code xmlns:o="{ML}3_0/structure" id="X"><c:Name>X</c:Name></o:Code><s:GeoFeatureSetCode id="Y"/>',
        '<!-- --><s:Code id="X"><c:Name>X</c:Name></s:Code><c:Name xml:lang="fr">Liste</c:Name>',
        '<!-- --><c:Name xml:lang="fr">Liste</c:Name><s:Code id="X"><c:Name>X</c:Name></s:Code>',
    ],
)
def test_codes_of_two_editions_and_names_of_the_list_are_kept_apart(extra: str) -> None:
    """A list may hold codes in the namespaces of two editions; its own names may follow its codes."""
    plain = only(codelist_xml(PLAIN), Codelist)
    whole = only(codelist_xml(PLAIN + extra), Codelist)
    assert list(whole.codes)[: len(plain.codes) + 1] == [*plain.codes, "X"]
    assert [whole.codes[id_] for id_ in plain.codes] == list(plain.codes.values())
    assert {code.id: code.names.texts for code in whole.codes.values()}["X"] == (("en", "X"),)
    assert whole.name("fr") == ("Liste" if "Liste" in extra else None)


@pytest.mark.parametrize("version", ["2_1", "3_0", "3_1"])
def test_a_metadata_attribute_without_an_id_has_that_of_its_concept(version: str) -> None:
    """The id of the concept replaces a missing id, as in data structures, also of a nested attribute."""
    concept = "<URN>urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=A:CS(1.0).{}</URN>"
    concept = f"<s:ConceptIdentity>{concept}</s:ConceptIdentity>"
    inner = f"<s:MetadataAttribute>{concept.format('INNER')}</s:MetadataAttribute>"
    outer = f"<s:MetadataAttribute>{concept.format('OUTER')}{inner}</s:MetadataAttribute>"
    list_ = ('<s:ReportStructure id="R">', "</s:ReportStructure>")
    if version != "2_1":
        list_ = ('<s:MetadataAttributeList id="MetadataAttributeDescriptor">', "</s:MetadataAttributeList>")
    components = f"<s:MetadataStructureComponents>{list_[0]}{outer}{list_[1]}</s:MetadataStructureComponents>"
    [structure] = read_message(
        xml(f'<s:X><s:MetadataStructure id="M" agencyID="A">{components}</s:MetadataStructure></s:X>', version)
    )
    assert isinstance(structure, MetadataStructure)
    found = structure.report_structures["R"] if version == "2_1" else structure
    assert list(found.metadata_attributes) == ["OUTER"]
    [nested] = found.metadata_attributes["OUTER"].metadata_attributes.values()
    assert nested.urn.item == ("R.OUTER.INNER" if version == "2_1" else "OUTER.INNER")


@pytest.mark.parametrize("container", ["", "AttributeDescriptor", "ATTRIBUTE_DESCRIPTOR"])
def test_a_reference_of_2_1_to_an_attribute_has_the_class_of_its_urn(container: str) -> None:
    """A <Ref> calls the class DataAttribute Attribute, and may name its list by the fixed id of such references."""
    holder = f'containerID="{container}"' if container else ""
    reference = (
        '<Ref agencyID="A" maintainableParentID="D" maintainableParentVersion="1.0" id="NOTE" class="Attribute" '
        f'package="datastructure" {holder}/>'
    )
    target = (
        '<Ref agencyID="A" maintainableParentID="CS" maintainableParentVersion="1.0" id="C" class="Category" '
        'package="categoryscheme"/>'
    )
    inside = f"<c:Name>N</c:Name><s:Source>{reference}</s:Source><s:Target>{target}</s:Target>"
    [one] = read_message(
        xml(f'<s:X><s:Categorisation id="X" agencyID="A" version="1.0">{inside}</s:Categorisation></s:X>')
    )
    assert isinstance(one, Categorisation)
    assert str(one.source) == "urn:sdmx:org.sdmx.infomodel.datastructure.DataAttribute=A:D(1.0).NOTE"
    written = write_message(one, Format.SDMX_ML_2_1)
    assert (faults("21", written), list(read_message(written))) == ([], [one])


@pytest.mark.parametrize(
    ("class_", "package", "item", "stated"),
    [
        ("HierarchicalCode", "codelist", "H.C1.C2", 'containerID="H" id="C1.C2"'),
        ("MetadataAttribute", "metadatastructure", "R.M.N", 'containerID="R" id="M.N"'),
        ("IdentifiableObjectTarget", "metadatastructure", "T.O", 'containerID="T" id="O"'),
        ("Transition", "process", "S1.S2.T", 'containerID="S1.S2" id="T"'),
        ("ProcessStep", "process", "S1.S2", 'id="S1.S2"'),
        ("Category", "categoryscheme", "P.L", 'id="P.L"'),
    ],
)
def test_references_of_2_1_name_the_container_of_an_item(class_: str, package: str, item: str, stated: str) -> None:
    """A <Ref> to an item in a hierarchy, report, target or step has the path of its container apart from its own id."""
    urn = Urn(package, class_, "A", "X", "1.0", item)
    target = Urn("categoryscheme", "Category", "A", "CS", "1.0", "C")
    one = Categorisation(
        urn=Urn.of("Categorisation", "A", "Z", "1.0"), names=InternationalString({"en": "N"}), source=urn, target=target
    )
    written = write_message(one, Format.SDMX_ML_2_1)
    [source] = re.findall(r"<str:Source><Ref (.*?)/>", written.decode())
    assert {*stated.split()} == {*source.split()} & {f'id="{item}"', *stated.split()}
    assert ("containerID" in source) == ("containerID" in stated)
    assert (faults("21", written), list(read_message(written))) == ([], [one])


_HCL = '<Ref id="HCL" agencyID="A" version="1.0" package="codelist" class="HierarchicalCodelist"/>'
_CL = '<Ref id="CL" agencyID="A" version="1.0" package="codelist" class="Codelist"/>'
_CODE = "urn:sdmx:org.sdmx.infomodel.codelist.HierarchicalCode=A:HCL(1.0).H1.P1.C1"


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ('<Ref containerID="H1" id="P1.C1" package="codelist" class="HierarchicalCode"/>', "H1.P1.C1"),
        (f"<URN>{_CODE}</URN>", "H1.P1.C1"),
        ('<Ref id="C1"/>', "C1"),
    ],
)
def test_hybrid_maps_keep_the_hierarchy_of_a_code(source: str, path: str) -> None:
    """A mapped hierarchical code is the path in its URN, in memory, in SDMX-ML 2.1 and in SDMX-JSON 1.0."""
    row = f'<s:HybridCodeMap><s:Source>{source}</s:Source><s:Target><Ref id="X"/></s:Target></s:HybridCodeMap>'
    ends = f"<s:Source>{_HCL}</s:Source><s:Target>{_CL}</s:Target>"
    map_ = f'<s:HybridCodelistMap id="M"><c:Name>M</c:Name>{ends}{row}</s:HybridCodelistMap>'
    set_ = f'<s:StructureSet id="S" agencyID="A" version="1.0"><c:Name>S</c:Name>{map_}</s:StructureSet>'
    data = xml(f"<s:StructureSets>{set_}</s:StructureSets>")
    one = only(data, StructureSet)
    [pair] = one.scheme_maps[0].item_maps
    assert (pair.source.value, pair.target) == (path, "X")
    written = write_message(one, Format.SDMX_ML_2_1)
    assert (faults("21", written), list(read_message(written))) == ([], [one])
    assert list(read_message(write_message(one, Format.SDMX_JSON_1_0))) == [one]
