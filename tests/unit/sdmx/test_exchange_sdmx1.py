"""Artefacts as objects of sdmx1, and back: supported content comes back equal, other content is reported."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx import Items, read_message
from kafka_replica.sdmx.errors import NotExpressibleError, UrnError
from kafka_replica.sdmx.exchange import differences, from_sdmx1, lost_in_sdmx1, to_sdmx1, to_sdmx1_message
from kafka_replica.sdmx.exchange.sdmx1 import library
from kafka_replica.sdmx.model import ARTEFACTS, Artefact
from kafka_replica.sdmx.samples import sample_files
from support.paths import SDMX_DATA

sdmx = pytest.importorskip("sdmx")

DATA = SDMX_DATA
FILES = [*sample_files(), *(DATA / name for name in ("every_class.sdmx30.xml", "old_classes.sdmx21.xml"))]

# Properties that sdmx1 lacks: class, and paths.
LOST = {
    ".*": r"(.*\.)?(links|urls)|.*\.contacts\[\d+\]\.id|.*(min_occurs|max_occurs|sentinel_values|is_multi_lingual)",
    "Codelist": r"extensions",
    "DataStructure": r"measures\['\w+'\]\.mandatory|attributes\['\w+'\]\.relationship\.measures",
    "Metadataflow": r"targets",
    ".*Scheme": r"vtl_version|vtl_mapping_scheme|ruleset_schemes",
    "TransformationScheme": r"transformations\['\w+'\]\.is_persistent",
    "NamePersonalisationScheme": r"name_personalisations\['\w+'\]\.(vtl_artefact|personalised_name)",
    "VtlMappingScheme": r"mappings\['\w+'\]\.(alias|from_vtl|mapped)",
    "ReportingTaxonomy": r".*\.(structural|provisioning)_metadata",
    "HierarchicalCodelist": r"included_codelists|.*\.(level|codelist_alias|code_id|version)",
}
# Classes that sdmx1 does not have, or not with their whole meaning.
REFUSED = {
    "AttachmentConstraint",
    "CategorySchemeMap",
    "ConceptSchemeMap",
    "MetadataConstraint",
    "MetadataProvisionAgreement",
    "OrganisationSchemeMap",
    "OrganisationUnitScheme",
    "Process",
    "ReportingTaxonomyMap",
    "RepresentationMap",
    "StructureMap",
}
# Classes that sdmx1 has, of which it would interpret the samples differently.
OTHERWISE = {
    "ContentConstraint": "would mean something else",
    "DataConstraint": "would mean something else",
    "StructureSet": "no maps between structures",
}


def artefacts() -> list[Any]:
    """Return all artefacts of our samples."""
    found = [(path, one) for path in FILES for one in read_message(path.read_bytes())]
    return [pytest.param(one, id=f"{path.name}-{one.urn.cls}-{one.id}") for path, one in found]


def of_class(cls: str, name: str = "every_class.sdmx30.xml") -> Any:
    """Return the artefact of this class in a sample."""
    return next(one for one in read_message((DATA / name).read_bytes()) if one.urn.cls == cls)


@pytest.mark.parametrize("artefact", artefacts())
def test_artefacts_come_back_from_sdmx1_except_the_listed_ones(artefact: Artefact) -> None:
    """Everything comes back except for the list; a class that sdmx1 does not have is refused by name."""
    cls = artefact.urn.cls
    if cls in REFUSED:
        with pytest.raises(NotExpressibleError, match=f"has no class for a {cls}"):
            to_sdmx1(artefact)
        return
    if cls in OTHERWISE:
        with pytest.raises(NotExpressibleError, match=OTHERWISE[cls]):
            lost_in_sdmx1(artefact)
        return
    lost = lost_in_sdmx1(artefact)
    patterns = [pattern for class_, pattern in LOST.items() if re.fullmatch(class_, cls)]
    assert [path for path in lost if not any(re.fullmatch(pattern, path) for pattern in patterns)] == []


@pytest.mark.thorough
def test_a_completely_supported_artefact_comes_back_equal() -> None:
    """An artefact of a class that sdmx1 supports completely comes back equal."""
    for cls in (
        "CategoryScheme",
        "DataProviderScheme",
        "Hierarchy",
        "MetadataStructure",
        "ProvisionAgreement",
        "ValueList",
    ):
        assert from_sdmx1(to_sdmx1(of_class(cls))) == of_class(cls)
    for cls in ("MetadataStructure", "Codelist", "Categorisation"):
        assert from_sdmx1(to_sdmx1(of_class(cls, "old_classes.sdmx21.xml"))) == of_class(cls, "old_classes.sdmx21.xml")


def test_every_class_is_known() -> None:
    """Each class of the model is converted in both directions, or refused in both."""
    from kafka_replica.sdmx.exchange.sdmx1 import _FROM, _TO

    assert set(_TO) == set(_FROM)
    assert set(_TO) <= set(ARTEFACTS)
    assert set(ARTEFACTS) - set(_TO) == REFUSED | {"MetadataSet", "Registration"}


def test_its_own_objects() -> None:
    """The results are objects of sdmx1, with the parents, languages and references that its users expect."""
    areas: Any = next(one for one in read_message(FILES[1].read_bytes()) if one.id == "CL_REF_AREA")
    made = to_sdmx1(areas)
    assert isinstance(made, sdmx.model.v21.Codelist)
    child = next(code for code in areas.items.values() if code.parent)
    assert made[child.id].parent is made[child.parent]
    assert made[child.id] in made[child.parent].child
    assert made[child.parent].parent is made
    assert made[child.id].name.localizations == dict(child.names)
    structure = to_sdmx1(of_class("DataStructure"))
    assert isinstance(structure, sdmx.model.v30.DataStructureDefinition)
    concept = structure.dimensions.components[0].concept_identity
    assert concept.get_scheme().is_external_reference
    assert str(concept.urn).startswith("urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=")


def test_the_edition_follows_from_the_artefact() -> None:
    """The edition follows from the artefact unless it is given."""
    flow = of_class("Dataflow")
    kinds = {edition: type(to_sdmx1(flow, edition=edition)) for edition in ("2.1", "3.0")}
    assert kinds == {"2.1": sdmx.model.v21.DataflowDefinition, "3.0": sdmx.model.v30.Dataflow}
    structure = of_class("DataStructure")
    second = replace(structure.measures["OBS_VALUE"], urn=structure.urn.with_item("Measure", "M2"))
    two = replace(structure, measures=Items({**structure.measures, "M2": second}))
    with pytest.raises(NotExpressibleError, match="one measure"):
        to_sdmx1(two, edition="2.1")
    assert isinstance(to_sdmx1(of_class("Codelist", "old_classes.sdmx21.xml")), sdmx.model.v21.Codelist)


@pytest.mark.thorough
def test_sdmx1_writes_the_message() -> None:
    """sdmx1's writer accepts the message; our reader finds all of its content, except what sdmx1 does not write."""
    from sdmx.writer.xml import to_xml

    labour = [path for path in sample_files() if path.name.startswith("labour")]
    mine = [one for path in labour for one in read_message(path.read_bytes())]
    again = read_message(to_xml(to_sdmx1_message(mine, edition="2.1"))).artefacts
    assert set(again) == {one.urn for one in mine}
    found = {path for one in mine for path in differences(one, again[one.urn])}
    formats = {path for path in found if re.search(r"format\.(max_length|min_value|max_value)$", path)}
    # Facets are not written; the measure of 3.0 is the primary measure of 2.1.
    assert found - formats == {"measures['OBS_VALUE'].urn", "attributes['OBS_STATUS'].relationship.measures"}


def test_two_versions_in_one_message_are_refused() -> None:
    """Two versions of one codelist in a message are refused: sdmx1 would keep one of them silently."""
    one = of_class("Codelist")
    other = replace(one, urn=type(one.urn).of("Codelist", one.agency, one.id, "9.0"))
    with pytest.raises(NotExpressibleError, match="there are several"):
        to_sdmx1_message([one, other])


def test_objects_made_by_users() -> None:
    """An object without URNs gets them from its maintainer; a missing maintainer or a bad id is an error."""
    common = sdmx.model.v21
    mine = common.Codelist(id="CL", maintainer=common.Agency(id="ME"), version="1.1")
    mine.append(common.Code(id="A", name={"en": "a"}))
    mine.append(common.Code(id="B", parent=mine["A"]))
    made: Any = from_sdmx1(mine)
    assert made.urn.reference == "ME:CL(1.1)"
    assert [(code.id, code.name(), code.parent) for code in made.items.values()] == [("A", "a", None), ("B", None, "A")]
    assert str(made.items["A"].urn).endswith("Code=ME:CL(1.1).A")
    with pytest.raises(NotExpressibleError, match="no maintainer"):
        from_sdmx1(common.Codelist(id="CL"))
    with pytest.raises(UrnError, match="cannot be its id"):
        from_sdmx1(common.Codelist(id="C L", maintainer=common.Agency(id="ME")))
    with pytest.raises(NotExpressibleError, match="are not converted"):
        from_sdmx1(common.Code(id="A"))


def test_version_rules_in_references() -> None:
    """A reference with a version rule, which sdmx1's own URNs do not allow, comes back unchanged."""
    flow = of_class("Dataflow")
    rule = type(flow.urn).of("DataStructure", "KR", "DSD", "1.0+.0")
    flow = replace(flow, structure_reference=rule)
    again: Any = from_sdmx1(to_sdmx1(flow))
    assert again.structure_reference == rule


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sdmx1 the error names the extra to install."""
    import sys

    monkeypatch.setitem(sys.modules, "sdmx", None)
    library.sdmx1.cache_clear()
    with pytest.raises(MissingExtraError, match=r"kafka-replica\[sdmx1\]"):
        to_sdmx1(of_class("Codelist"))
    library.sdmx1.cache_clear()


def test_differences_are_paths_to_the_fields() -> None:
    """Differences are paths, down to the fields of one item; equal artefacts have none."""
    one = of_class("Codelist", "old_classes.sdmx21.xml")
    assert list(differences(one, one)) == []
    first = next(iter(one.items))
    code = replace(one.items[first], parent="X")
    other = replace(one, is_final=not one.is_final, codes=Items({**dict(one.items), first: code}))
    assert list(differences(one, other)) == ["is_final", f"codes['{first}'].parent"]
