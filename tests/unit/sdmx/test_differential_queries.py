"""Queries compared with sdmx1's and pysdmx's, where these have the same query, over real files."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

from kafka_replica.sdmx import Structures, split_message
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, rows

sdmx = pytest.importorskip("sdmx")
fusion = pytest.importorskip("pysdmx.io.json.fusion.messages")

LARGEST_BYTES = 200_000
WHOLE = ("sdmx-ml", "2.1")


def files(ending: str, *wanted: tuple[str, str]) -> list[Any]:
    """Return the files of the corpus with this ending."""
    return [row for row in rows(*wanted) if row.values[0] is None or row.values[0]["file"].endswith(ending)]


def small() -> list[Any]:
    """Return files with codelists that sdmx1 reads in about a second."""
    return [
        row for row in rows(WHOLE)
        if row.values[0] is None
        or (int(row.values[0]["bytes"]) < LARGEST_BYTES and "Codelist=" in row.values[0]["maintainables_by_type"])
    ]  # fmt: skip


def structures_of(row: dict[str, str]) -> Structures:
    """Return look-ups in a version of the file's content."""
    return Structures(FakeSnapshot.of(split_message(data_of(row))))


@pytest.mark.thorough
@pytest.mark.parametrize("row", files("ECB_EXR__1__structure-full.xml", WHOLE))
def test_allowed_ids_are_those_that_sdmx1_finds_in_the_constraint(row: dict[str, str]) -> None:
    """Each dimension of the exchange rates has the codes of its selection as in sdmx1, or all codes without one."""
    found = structures_of(row).resolve("ECB:EXR(1.0)")
    constraint = sdmx.read_sdmx(io.BytesIO(data_of(row))).constraint["EXR_CONSTRAINTS"]
    members = {dimension.id: member for dimension, member in constraint.data_content_region[0].member.items()}
    assert len(members) == 5
    for component in found.components.values():
        listed, allowed = component.listed_ids(), component.allowed_ids()
        if listed is None or component.id not in members:
            assert allowed == listed
        else:
            assert allowed == {code for code in listed if code in members[component.id]}, component.id
    assert len(found.components["FREQ"].listed_ids() or ()) > len(found.components["FREQ"].allowed_ids() or ()) == 5


@pytest.mark.parametrize("row", small())
def test_children_of_codes_are_those_of_sdmx1(row: dict[str, str]) -> None:
    """Children of codes equal those of sdmx1 in every codelist of the file, in any order."""
    structures = structures_of(row)
    try:
        theirs = sdmx.read_sdmx(io.BytesIO(data_of(row)))
    except Exception:  # noqa: BLE001 - it reads parts of 2.1 only
        pytest.skip("sdmx1 does not read it")
    for codelist in theirs.codelist.values():
        named = structures.find("Codelist", id=codelist.id)
        if codelist.is_external_reference or len(named) != 1:
            continue
        mine = structures.codelist(named[0])
        for code in codelist:
            if code.id in mine.codes:
                assert {one.id for one in mine.children_of(code.id)} == {one.id for one in code.child}
                parent = code.parent.id if isinstance(code.parent, type(code)) else None
                assert [ancestor.id for ancestor in mine.ancestors_of(code.id)][:1] == ([parent] if parent else [])


@pytest.mark.parametrize("row", files("samples__cat__cs.fusion.json", ("fusion-json", "")))
def test_dataflows_of_categories_are_those_of_pysdmx(row: dict[str, str]) -> None:
    """Dataflows of each category, without those of its subcategories, equal those of pysdmx."""
    structures = structures_of(row)
    [scheme] = structures.find(cls="CategoryScheme")
    decoder = msgspec.json.Decoder(fusion.FusionCategorySchemeMessage)
    stack = [("", one) for one in decoder.decode(data_of(row)).to_model()]
    seen = 0
    while stack:
        above, category = stack.pop()
        found = structures.dataflows_of(scheme.with_item("Category", above + category.id), children=False)
        wanted = {f"{dataflow.agency}:{dataflow.id}({dataflow.version})" for dataflow in category.dataflows}
        assert {one.reference for one in found} == wanted
        seen += len(wanted)
        stack += [(f"{above}{category.id}.", each) for each in category.categories]
    assert seen == len(structures.dataflows_of(scheme)) == 5
