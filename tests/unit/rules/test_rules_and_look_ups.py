"""Validation and look-ups read structures alike: the rules match the result of ``resolve``."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kafka_replica import Snapshot
from kafka_replica.data.validation import compile_rules
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.errors import IncompleteStructureError, SdmxError
from support.rules.corpus_structures import snapshot_of, structure_files
from support.rules.structures_by_hand import (
    FLOW,
    FLOWS,
    attribute,
    coded,
    codelist,
    concepts,
    constraint,
    dimension,
    measure,
    region,
    rules_of,
    selected,
    structure,
    text,
    version_of,
)

TODAY = date(2020, 6, 15)


@pytest.mark.parametrize("file", structure_files())
def test_exactly_the_resolvable_structures_can_be_compiled(file: Path) -> None:
    """Exactly the structures that resolve can be compiled; lists, occurrences and allowed ids are the same."""
    try:
        structures = Structures(snapshot_of(file.read_bytes()))
    except SdmxError:
        pytest.skip("the file cannot be cut up; tests of the readers say why")
    for class_ in ("DataStructure", "Dataflow", "ProvisionAgreement"):
        for urn in structures.find(class_):
            try:
                found = structures.resolve(urn, metadata=False)
            except SdmxError:
                with pytest.raises((SdmxError, UsageError)):
                    compile_rules(structures, urn)
                continue
            rules = compile_rules(structures, urn, as_of=TODAY)
            assert [each.id for each in rules.columns] == list(found.used_components)
            checks = [check.broken for check in rules.checks if check.rule.endswith(("-not-allowed", "-not-valid"))]
            for column in rules.columns:
                component = found.components[column.id]
                assert column.values == (component.listed_ids() or frozenset())
                most = component.representation.max_occurs if component.representation is not None else None
                assert column.is_multi_valued == (most not in {None, 1})
                broken = {
                    code
                    for code in column.values
                    if any(evaluate_condition(check, {column.id: code}) for check in checks)
                }
                assert (component.allowed_ids(as_of=TODAY) or frozenset()) <= column.values - broken


def test_occurrences_come_from_the_concept_by_default() -> None:
    """The minimum occurrence is the component's, the maximum its concept's: rules and look-ups agree."""
    core = concepts(("A", text("Integer"), 'maxOccurs="unbounded"'))
    one = structure(dimension("ID", text()), attribute("A", "", occurs='minOccurs="0"'), measure())
    snapshot = version_of(core, one, FLOWS)
    component = Structures(snapshot).resolve(FLOW).components["A"]
    assert component.representation is not None
    assert (component.representation.min_occurs, component.representation.max_occurs) == (0, "unbounded")
    column = rules_of(snapshot, FLOW).column("A")
    assert column is not None
    assert (column.is_multi_valued, column.text_type) == (True, "Integer")
    assert not [
        check for check in rules_of(snapshot, FLOW).checks if check.rule == "occurrences" and check.component == "A"
    ]


AREA = codelist("AREA", ["EU", "US"])
PLAIN = structure(dimension("AREA", coded("AREA")), measure())


def with_bad_records(*bad: str) -> Snapshot:
    """Return a version in which the records of these ids cannot be read."""
    others = (constraint(region(selected("AREA", "US")), id_=id_) for id_ in bad)
    return version_of(AREA, PLAIN, FLOWS, constraint(region(selected("AREA", "EU"))), *others, unreadable=bad)


def test_a_constraint_that_cannot_be_read_does_not_stop_validation() -> None:
    """An unreadable constraint is listed as unchecked with its location, as it may be attached to anything.

    The other constraints apply.
    """
    snapshot = with_bad_records("BAD1", "BAD2", "BAD3", "BAD4")
    rules = rules_of(snapshot, FLOW)
    [told] = rules.unchecked
    assert (
        "may apply to this structure: urn:sdmx:org.sdmx.infomodel.registry.DataConstraint=T:BAD1(1.0): record at"
        in told
    )
    assert told.endswith("; and 1 more")
    assert [check.rule for check in rules.checks if "T:C(1.0)" in check.message] == ["value-not-allowed"]
    found = Structures(snapshot).resolve(FLOW)
    assert found.components["AREA"].allowed_ids() == {"EU"}
    assert [unread_constraint.id for unread_constraint in found.unread_constraints] == ["BAD1", "BAD2", "BAD3", "BAD4"]


def test_a_missing_list_is_the_same_error_in_both() -> None:
    """A missing list gives the same error in both: with the component and the list."""
    snapshot = version_of(PLAIN, FLOWS)
    for ask in (lambda: Structures(snapshot).resolve(FLOW), lambda: rules_of(snapshot, FLOW)):
        with pytest.raises(IncompleteStructureError, match=r"AREA: .*T:AREA\(1\.0\)"):
            ask()


def test_a_metadata_structure_is_not_needed_for_validation() -> None:
    """Look-ups need a metadata structure unless that is disabled; validation does not need it."""
    target = "urn:sdmx:org.sdmx.infomodel.metadatastructure.MetadataStructure=T:MSD(1.0)"
    usage = (
        "<s:MetadataAttributeUsage><s:MetadataAttributeReference>X</s:MetadataAttributeReference>"
        "<s:AttributeRelationship><s:Observation/></s:AttributeRelationship></s:MetadataAttributeUsage>"
    )
    with_usage = structure(dimension("AREA", coded("AREA")), attribute("A"), measure())
    with_usage = with_usage.replace("</s:AttributeList>", f"{usage}</s:AttributeList>")
    end = "</s:DataStructureComponents>"
    with_usage = with_usage.replace(end, f"{end}<s:Metadata>{target}</s:Metadata>")
    snapshot = version_of(AREA, with_usage, FLOWS)
    assert rules_of(snapshot, FLOW).column("A") is not None
    with pytest.raises(IncompleteStructureError, match="MSD"):
        Structures(snapshot).resolve(FLOW)
    assert "A" in Structures(snapshot).resolve(FLOW, metadata=False).components
