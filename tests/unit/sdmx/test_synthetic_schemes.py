"""Synthetic schemes, made by the reader of concepts and organisations outside schemes: their names, and merging."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.sdmx import ConceptScheme, MessagePart, Urn, merge_copies, read_message, split_message, write_message
from kafka_replica.sdmx.errors import SdmxError, UnwritableError
from kafka_replica.sdmx.files.structure_files import read_structures
from kafka_replica.sdmx.formats.shared.reading.standalone_items import is_synthetic
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import AgencyScheme
from kafka_replica.sdmx.model.base import ItemScheme
from support.effort import examples
from support.sdmx.conversions import JSON_FORMATS, ML_FORMATS
from support.sdmx.ml_messages_by_hand import old_ml
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.standard_schemas import faults, json_schema

CONCEPTS = Urn.parse("urn:sdmx:org.sdmx.infomodel.conceptscheme.ConceptScheme=A:STANDALONE_CONCEPT_SCHEME(1.0)")
AGENCIES = Urn.parse("urn:sdmx:org.sdmx.infomodel.base.AgencyScheme=SDMX:AGENCIES(1.0)")
NO_NAME = re.compile(r"Expected is one of \(.*common\}Name[ ,]|'name' is a required property")


def concepts(*ids: str, name: str = "Name", edition: str = "2_0") -> bytes:
    """Return a message of concepts of agency A outside schemes."""
    agency = "agencyID" if edition == "2_0" else "agency"
    items = "".join(f'<s:Concept id="{id_}" {agency}="A"><s:Name>{name} {id_}</s:Name></s:Concept>' for id_ in ids)
    return old_ml(f"<Concepts>{items}</Concepts>", edition)


def agencies(*ids: str, edition: str = "2_0") -> bytes:
    """Return a message of agencies that are in no AgencyScheme."""
    items = "".join(f'<s:Agency id="{id_}"><s:Name>Agency {id_}</s:Name></s:Agency>' for id_ in ids)
    if edition == "1_0":
        return old_ml(f"<Agencies>{items}</Agencies>", edition)
    scheme = f'<s:OrganisationScheme id="O" agencyID="A"><s:Name>O</s:Name><s:Agencies>{items}</s:Agencies>'
    return old_ml(f"<OrganisationSchemes>{scheme}</s:OrganisationScheme></OrganisationSchemes>")


def edi_concepts(*ids: str) -> bytes:
    """Return a message of concepts of agency A in SDMX-EDI."""
    items = "".join(f"STC+{id_}'FTX+ACM+++Name {id_}'" for id_ in ids)
    return f"UNB+UNOC:3+S+R+970101:0000+R'UNH+1+GESMES:2:1:E6'BGM+73'NAD+Z02+A'{items}UNT+1+1'UNZ+1+R'".encode()


def part_of(data: bytes) -> MessagePart:
    """Return the only artefact of a message."""
    [part] = split_message(data)
    return part


def held(part: MessagePart) -> dict[str, str | None]:
    """Return the ids and names of the items in a part."""
    [scheme] = read_message(part.value, part.content_type)
    assert isinstance(scheme, ItemScheme)
    assert scheme.urn == part.urn
    return {id_: item.name() for id_, item in scheme.items.items()}


def named(*ids: str, name: str = "Name") -> dict[str, str | None]:
    """Return the expected result of ``held`` for these concepts."""
    return {id_: f"{name} {id_}" for id_ in ids}


@pytest.mark.parametrize("row", rows(("sdmx-ml", "1.0"), ("sdmx-ml", "2.0"), ("sdmx-edi", "")))
def test_synthetic_schemes_of_real_files_are_written_with_a_name(row: dict[str, str]) -> None:
    """Schemes are valid, with a name, in any edition that can express them; other artefacts keep their names."""
    try:
        message = read_message(data_of(row))
    except SdmxError:
        pytest.skip("the file cannot be read")
    for artefact in message:
        if not is_synthetic(artefact.urn, message.format):
            continue
        assert artefact.name()
        for version in ("21", "30", "31"):
            found = faults(version, write_message(artefact, ML_FORMATS[version]))
            assert [fault for fault in found if NO_NAME.search(fault)] == []
        for version, format_ in JSON_FORMATS.items():
            try:
                written = json.loads(write_message(artefact, format_))
            except UnwritableError:
                continue
            assert [
                iter_error.message
                for iter_error in json_schema(version).iter_errors(written)
                if NO_NAME.search(iter_error.message)
            ] == []


@pytest.mark.parametrize(
    ("data", "urn", "name"),
    [
        (concepts("X"), CONCEPTS, "Default Scheme"),
        (concepts("X", edition="1_0"), CONCEPTS, "Default Scheme"),
        (edi_concepts("X"), CONCEPTS, "Default Scheme"),
        (agencies("X"), AGENCIES, "SDMX Agency Scheme"),
        (agencies("X", edition="1_0"), AGENCIES, "SDMX Agency Scheme"),
    ],
    ids=["2.0", "1.0", "edi", "agencies-2.0", "agencies-1.0"],
)
def test_synthetic_schemes_have_the_names_that_registries_give(data: bytes, urn: Urn, name: str) -> None:
    """The name is that of registries, the part is marked, and reads the same in its own and newer editions."""
    part = part_of(data)
    assert (part.urn, part.is_synthetic) == (urn, True)
    [scheme] = read_message(data)
    assert scheme.names.texts == (("en", name),)
    for format_ in (read_message(data).format, Format.SDMX_ML_2_1, Format.SDMX_ML_3_1, Format.SDMX_JSON_2_1):
        written = write_message(scheme, format_)
        assert list(read_message(written)) == [scheme]
    assert not MessagePart(urn, write_message(scheme, Format.SDMX_ML_2_1), str(Format.SDMX_ML_2_1)).is_synthetic


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (concepts("A", "B"), concepts("C")),
        (concepts("A", "B", edition="1_0"), concepts("C")),
        (edi_concepts("A", "B"), concepts("C", edition="1_0")),
        (concepts("A", "B"), edi_concepts("C")),
    ],
)
def test_two_files_keep_the_concepts_of_both(one: bytes, other: bytes) -> None:
    """The result has all items, in any order of the files, and has the format of the last file."""
    for first, last in itertools.permutations([one, other]):
        part, conflicts = merge_copies([part_of(first), part_of(last)])
        assert held(part) == named("A", "B", "C")
        assert part.content_type == part_of(last).content_type
        assert part.is_synthetic
        assert conflicts == ()


def test_agencies_of_1_0_and_2_0_keep_each_other() -> None:
    """SDMX:AGENCIES of both editions becomes one scheme."""
    part, _ = merge_copies([part_of(agencies("X", edition="1_0")), part_of(agencies("Y"))])
    assert held(part) == named("X", "Y", name="Agency")


def test_a_complete_copy_stays_byte_for_byte() -> None:
    """A copy with all content stays unchanged byte for byte; a single copy is not even read."""
    small, large = part_of(concepts("A")), part_of(concepts("C", "B", "A"))
    for copies in ([small, large], [large, small], [large, large]):
        assert merge_copies(copies).part == large
    broken = MessagePart(CONCEPTS, b"?", str(Format.SDMX_ML_2_0))
    assert merge_copies([broken]).part is broken


def test_the_last_definition_of_an_item_counts() -> None:
    """The last definition of an item counts, and the ids of changed items are reported."""
    part, conflicts = merge_copies([part_of(concepts("A", "B")), part_of(concepts("B", "C", name="New"))])
    assert held(part) == {"A": "Name A", "B": "New B", "C": "New C"}
    assert conflicts == ("B",)


@pytest.mark.parametrize("format_", [Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_JSON_2_0, Format.FUSION_JSON])
def test_an_explicit_scheme_has_priority(format_: Format) -> None:
    """An explicit scheme keeps its content and gains missing items, in any order of the files.

    It keeps its names, order, format and definitions.
    """
    [scheme] = read_message(concepts("Z", "B", name="Explicit"))
    assert isinstance(scheme, ConceptScheme)
    value = write_message(scheme, format_)
    explicit, synthetic = MessagePart(CONCEPTS, value, str(format_)), part_of(concepts("A", "B"))
    for copies in itertools.permutations([explicit, synthetic]):
        part, conflicts = merge_copies(copies)
        assert list(held(part).items()) == [("Z", "Explicit Z"), ("B", "Explicit B"), ("A", "Name A")]
        assert (part.content_type, conflicts) == (str(format_), ("B",))
    complete = part_of(concepts("B"))
    assert merge_copies([complete, explicit]).part == explicit
    assert merge_copies([explicit, complete]).part == explicit


def test_without_a_synthetic_scheme_the_last_copy_counts() -> None:
    """Without a synthetic scheme the last copy counts, as for any other artefact, whatever the copies contain."""
    first, last = (MessagePart(CONCEPTS, value, str(Format.SDMX_ML_2_1)) for value in (b"1", b"2"))
    assert merge_copies([first, last]) == (last, ())


COPIES = st.lists(st.dictionaries(st.sampled_from("ABCDE"), st.sampled_from(["x", "y"]), min_size=1), min_size=1)


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
@given(COPIES.filter(lambda copies: len(copies) < 5))
def test_the_order_of_merging_does_not_matter(copies: list[dict[str, str]]) -> None:
    """Merging files one by one or all at once gives the same items: the last definition of each."""
    parts = [
        part_of(old_ml("<Concepts>" + "".join(
            f'<s:Concept id="{id_}" agencyID="A"><s:Name>{name}</s:Name></s:Concept>' for id_, name in copy.items()
        ) + "</Concepts>"))
        for copy in copies
    ]  # fmt: skip
    at_once = merge_copies(parts).part
    one_by_one = parts[0]
    for part in parts[1:]:
        one_by_one = merge_copies([one_by_one, part]).part
    expected = {id_: name for copy in copies for id_, name in copy.items()}
    assert held(at_once) == held(one_by_one) == expected
    assert merge_copies([at_once, at_once]).part == at_once


def test_files_are_merged_and_reported(tmp_path: Path) -> None:
    """Three files with concepts of one agency, and agencies in two editions, are merged without loss and reported."""
    contents = {
        "a.xml": concepts("A", "B"), "b.xml": concepts("B", name="New"), "c.edi": edi_concepts("C"),
        "d.xml": agencies("X", edition="1_0"), "e.xml": agencies("Y"),
    }  # fmt: skip
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    files = sorted(tmp_path.iterdir())
    found = read_structures(files)
    assert held(found.parts[CONCEPTS]) == {"A": "Name A", "B": "New B", "C": "Name C"}
    assert held(found.parts[AGENCIES]) == named("X", "Y", name="Agency")
    assert found.merged[CONCEPTS] == (tuple(files[:3]), ("B",))
    assert found.merged[AGENCIES] == (tuple(files[3:]), ())
    assert found.replaced == []


def test_a_real_agency_scheme_is_not_reduced() -> None:
    """A real agency scheme is not reduced to the agencies in an old file."""
    [scheme] = read_message(agencies("X", "Y", "Z"))
    assert isinstance(scheme, AgencyScheme)
    real = MessagePart(AGENCIES, write_message(scheme, Format.SDMX_ML_3_0), str(Format.SDMX_ML_3_0))
    assert merge_copies([real, part_of(agencies("X", edition="1_0"))]).part == real
