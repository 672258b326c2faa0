"""Fusion-JSON has the same meaning as SDMX-ML, and unknown content is not guessed."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kafka_replica.sdmx import OpaqueArtefact, read_message
from kafka_replica.sdmx.containers import InternationalString, written_texts
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.formats.fusion.values import Text
from kafka_replica.sdmx.model import (
    Codelist,
    DataConstraint,
    DataStructure,
    Hierarchy,
    ItemScheme,
    RepresentationMap,
    StructureMap,
)
from support.paths import SDMX_DATA
from support.sdmx.ml_messages_by_hand import EVERY, only

TWINS = json.loads((SDMX_DATA / "every_class.fusion.json").read_bytes())
# Fusion-JSON writes one address without a language, and no value.
NOT_IN_FUSION = [
    '<c:AnnotationURL xml:lang="en">http://example.org/a</c:AnnotationURL>',
    '<c:AnnotationURL xml:lang="fr">http://example.org/b</c:AnnotationURL>',
    "<c:AnnotationValue>v</c:AnnotationValue>",
]


def fusion(cls: str, **artefact: Any) -> bytes:
    """Return a message of one artefact."""
    return json.dumps({cls: [{"id": "X", "agencyId": "KR", "version": "1.0", **artefact}]}).encode()


@pytest.mark.parametrize("cls", [cls for cls in TWINS if cls != "meta"])
def test_twins_of_every_class(cls: str) -> None:
    """An artefact in Fusion-JSON and in SDMX-ML gives equal models."""
    text = EVERY.decode()
    for part in NOT_IN_FUSION:
        assert part in text
        text = text.replace(part, "")
    by_urn = read_message(text.encode()).artefacts
    [artefact] = read_message(json.dumps({"meta": TWINS["meta"], cls: TWINS[cls]}).encode())
    assert artefact == by_urn[artefact.urn]
    assert not isinstance(artefact, OpaqueArtefact)


@pytest.mark.parametrize("cls", [cls for cls in TWINS if cls != "meta"])
def test_an_external_artefact_without_content_is_a_stub(cls: str) -> None:
    """An artefact without content, marked as an external reference, is a stub."""
    stub = only(fusion(cls, isExternalReference=True, structureURL="http://example.org"), object)
    assert stub.is_stub
    assert stub.structure_url == "http://example.org"
    if isinstance(stub, ItemScheme):
        with pytest.raises(UnreadableContentError, match="stub"):
            len(stub.items)


FREQ = {"values": ["A", "B"], "cascade": ["B"], "removePrefix": True}
SERIES = {"dims": ["FREQ", "SEX"], "comps": ["STATUS"], "rows": [["A", None, "F"], ["B", "M", None], ["C", "T"]]}


def test_constraints_keep_cubes_series_and_cascades() -> None:
    """Constraints keep cubes and series, included and excluded, cascades and roles; dates are in milliseconds."""
    found = only(
        fusion(
            "DataConstraint",
            startDate=978307200000,
            endDate=-1,
            definingDataPresent=True,
            type="Any",
            attachments=["urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=KR:FLOW(1.0)"],
            includeCube={"FREQ": FREQ},
            excludeCube={"SEX": {"values": ["X"]}},
            includeSeries=SERIES,
            excludeSeries={"dims": ["FREQ"], "rows": [["Z"]]},
        ),
        DataConstraint,
    )
    assert (found.role, found.valid_from, found.valid_to) == (
        "Actual", "2001-01-01T00:00:00", "1969-12-31T23:59:59.999000",
    )  # fmt: skip
    assert [one.id for one in found.attachment.references] == ["FLOW"]
    allowed, not_allowed = found.cube_regions
    assert (allowed.include, not_allowed.include) == (True, False)
    [freq] = allowed.key_values
    assert [(one.value, one.cascade_values) for one in freq.values] == [("A", None), ("B", "true")]
    assert freq.remove_prefix
    into, out = found.key_sets
    assert (into.is_included, out.is_included) == (True, False)
    rows = [
        ([(one.id, one.values[0].value) for one in key.key_values], [one.values[0].value for one in key.components])
        for key in into.keys
    ]
    assert rows == [([("FREQ", "A")], ["F"]), ([("FREQ", "B"), ("SEX", "M")], []), ([("FREQ", "C"), ("SEX", "T")], [])]


@pytest.mark.parametrize(
    ("cls", "unknown"),
    [
        ("DataConstraint", {"includeCube": {"TIME_PERIOD": {"timeRange": {"start": "2000"}}}}),
        ("DataConstraint", {"somethingNew": [1]}),
        ("StructureMap", {"epochMaps": [{"source": "X"}]}),
    ],
)
def test_an_unknown_key_keeps_the_artefact_unread(cls: str, unknown: dict[str, Any]) -> None:
    """An artefact with an unknown key that may change the meaning of the rest is kept unread."""
    data = fusion(cls, **unknown)
    kept = only(data, OpaqueArtefact)
    assert json.loads(kept.content) == json.loads(data)
    assert not isinstance(only(fusion(cls, somethingNew=[]), object), OpaqueArtefact)


def test_structure_maps_keep_all_their_parts() -> None:
    """Structure maps keep component maps, fixed values and date patterns."""
    found = only(
        fusion(
            "StructureMap",
            source="urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=KR:FLOW(1.0)",
            target="urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=KR:FLOW2(1.0)",
            componentMaps=[
                {
                    "sources": ["A", "B"],
                    "targets": ["C"],
                    "representationMapRef": "urn:sdmx:org.sdmx.infomodel.structuremapping.RepresentationMap=KR:RM(1.0)",
                }
            ],
            fixedInput={"CONF": ["F", "C"]},
            fixedOutput={"STATUS": "A"},
            timePatternMaps=[
                {"id": "T", "source": "D", "target": "TIME_PERIOD", "pattern": "MM/yyyy", "locale": "en", "freqId": "M"}
            ],
        ),
        StructureMap,
    )
    [component] = found.component_maps
    assert (component.sources, component.targets, component.representation_map.id) == (("A", "B"), ("C",), "RM")
    assert [(one.source, one.target, one.values) for one in found.fixed_value_maps] == [
        ("CONF", None, ("F", "C")), (None, "STATUS", ("A",)),
    ]  # fmt: skip
    [pattern] = found.date_pattern_maps
    assert (pattern.id, pattern.source_pattern, pattern.locale, pattern.target_frequency) == ("T", "MM/yyyy", "en", "M")


def test_representation_maps_keep_expressions_and_validity() -> None:
    """Representation maps keep lists and data types, regular expressions, validity, and rows without a target."""
    found = only(
        fusion(
            "RepresentationMap",
            sources=["String"],
            targets=["urn:sdmx:org.sdmx.infomodel.codelist.ValueList=KR:VL(1.0)"],
            mappedRelationships=[
                {"source": [{"value": "a(.*)", "regEx": True}], "target": ["$1"], "validFrom": "2020-01-01"},
                {"source": [{"value": "b"}]},
            ],
        ),
        RepresentationMap,
    )
    assert (found.sources, [one.cls for one in found.targets]) == (("String",), ["ValueList"])
    first, second = found.mappings
    assert (first.sources[0].is_reg_ex, first.targets, first.valid_from) == (True, ("$1",), "2020-01-01")
    assert second.targets == ()


def test_nested_codes_keep_their_dates() -> None:
    """Nested codes are kept, with dates in milliseconds equal to those of the same registries' other formats."""
    code = "urn:sdmx:org.sdmx.infomodel.codelist.Code=KR:CL(1.0)."
    below = {"id": "B", "code": code + "Y", "validFrom": 94694400000, "validTo": 1609459199000}
    found = only(
        fusion("Hierarchy", formalLevels=True, codes=[{"id": "A", "code": code + "Z", "codes": [below]}]), Hierarchy
    )
    first, second = found.walk()
    assert (first.code.item, second.code.item, second.urn.item, found.has_formal_levels) == ("Z", "Y", "A.B", True)
    assert (second.valid_from, second.valid_to) == ("1973-01-01T00:00:00", "2020-12-31T23:59:59")


@pytest.mark.parametrize(
    ("cls", "artefact"),
    [
        ("CategoryScheme", {"items": [{"names": []}]}),
        ("CategoryScheme", {"items": [{"id": "A", "items": [{"names": []}]}]}),
        ("CategoryScheme", {"items": [{"id": "A", "items": [{"id": "B"}, {"id": "B"}]}]}),
        ("Categorisation", {"structureReference": "nowhere"}),
        ("RepresentationMap", {"sources": ["urn:sdmx:nowhere"]}),
        ("DataConstraint", {"includeSeries": {"dims": ["A"], "rows": [["1", "2"]]}}),
        ("DataConstraint", {"startDate": 10**18}),
        ("Hierarchy", {"codes": [{"id": "A", "validFrom": -(10**18)}]}),
        ("VtlMappingScheme", {"items": [{"id": "M", "mapped": "urn"}]}),
    ],
)
def test_a_part_without_identification_is_refused(cls: str, artefact: dict[str, Any]) -> None:
    """A part without its identifying content is refused, not left out."""
    with pytest.raises(MessageError):
        read_message(fusion(cls, **artefact))


def test_a_time_dimension_without_an_id_has_the_fixed_one() -> None:
    """The standard fixes the id of the time dimension; its concept may have any other."""
    concept = "urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=KR:CS(1.0).TIME"
    dimensions = [{"concept": concept, "isTimeDimension": True}, {"concept": concept}]
    found = only(fusion("DataStructure", dimensionList={"dimensions": dimensions}), DataStructure)
    assert [(id_, one.urn.cls) for id_, one in found.dimension_list.items()] == [
        ("TIME_PERIOD", "TimeDimension"),
        ("TIME", "Dimension"),
    ]


def test_a_component_without_id_and_concept_is_refused() -> None:
    """The error names the class of the component."""
    with pytest.raises(MessageError, match="a Measure has neither an id nor a concept"):
        read_message(fusion("DataStructure", measures=[{"mandatory": True}]))


@pytest.mark.parametrize("depth", [100, 500, 5_000, 100_000])
def test_items_deep_in_items(depth: int) -> None:
    """Items nested too deep are refused, whichever part of the reader notices."""
    body = b'{"id":"A","items":[' * depth + b"]}" * depth
    data = b'{"CategoryScheme":[{"id":"X","agencyId":"KR","items":[' + body + b"]}]}"
    if depth == 100:
        assert isinstance(only(data, ItemScheme), ItemScheme)
    else:
        with pytest.raises(MessageError):
            read_message(data)


def test_a_codelist_is_its_twin() -> None:
    """Codes in Fusion-JSON equal those that SDMX-ML decodes lazily."""
    items = [
        {"id": "Z", "names": [{"locale": "en", "value": "Zed"}], "descriptions": [{"locale": "en", "value": "Last"}]},
        {"id": "Y", "uri": "http://example.org/y", "parentCode": "Z", "names": [{"locale": "en", "value": "Why"}]},
    ]
    late = next(one for one in read_message(EVERY) if isinstance(one, Codelist) and one.id == "CL")
    twin = only(fusion("Codelist", id="CL", version="1.0.0-draft", items=items), Codelist)
    assert twin.codes == late.codes
    assert late.codes == twin.codes


@pytest.mark.thorough
def test_texts_are_the_same_before_and_after_the_first_access() -> None:
    """Texts are the same before and after the first access, whichever it is, and for eight threads."""
    written = [Text(value=f"text {number}", locale=f"l{number}") for number in range(50)]
    pairs = tuple((one.locale, one.value) for one in written)
    questions: list[Callable[[InternationalString], Any]] = [
        lambda one: one == InternationalString(pairs), lambda one: hash(one) == hash(InternationalString(pairs)),
        lambda one: one["L3"] == "text 3", lambda one: len(one) == 50,
        lambda one: list(one) == [key for key, _ in pairs],
        lambda one: pickle.loads(pickle.dumps(one)) == one, lambda one: copy.deepcopy(one).texts == pairs,
        lambda one: not hasattr(one, "other") and one.texts == pairs,
    ]  # fmt: skip
    for question in questions:
        one = written_texts(written)
        assert question(one)
        assert one.texts == pairs
    many = [written_texts(written) for _ in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [one.texts for one in many], range(8)):
            assert set(found) == {pairs}
