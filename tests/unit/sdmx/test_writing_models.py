"""The identity read(write(x)) == x for random artefacts."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from lxml import etree

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.writing.conversion import as_representable_in
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Artefact, Codelist
from kafka_replica.sdmx.writing.messages import explain_unwritable, media_types, write_message
from support.effort import examples
from support.sdmx.sdmx_models import BOTH, TODAY, codelists
from support.sdmx.standard_schemas import schema_errors, xml_schema

QUICK = settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
SINCE_3 = [Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1]


@pytest.mark.thorough
@pytest.mark.parametrize("format_", SINCE_3, ids=lambda one: one.title)
@given(artefact=TODAY)
@QUICK
def test_todays_formats_carry_today(format_: Format, artefact: Artefact) -> None:
    """Formats of SDMX 3.0 express all of its content: nothing is refused, and the result is equal."""
    found = read_message(write_message(artefact, format_, verify=False))
    assert [as_representable_in(artefact, format_)] == list(found)


@pytest.mark.thorough
@pytest.mark.parametrize("format_", [Format.SDMX_ML_2_1, Format.SDMX_JSON_1_0], ids=lambda one: one.title)
@given(artefact=BOTH)
@QUICK
def test_formats_of_2_1_express_all_content_of_2_1(format_: Format, artefact: Artefact) -> None:
    """Formats of SDMX 2.1 express its content, with versions of three numbers, all texts and languages."""
    found = read_message(write_message(artefact, format_, verify=False))
    assert [as_representable_in(artefact, format_)] == list(found)


@pytest.mark.thorough
@given(artefact=codelists(), format_=st.sampled_from([Format.FUSION_JSON, Format.SDMX_ML_2_0, Format.EDI]))
@QUICK
def test_other_formats_write_a_codelist_whole_or_name_the_property(artefact: Codelist, format_: Format) -> None:
    """A codelist is written whole, or the property without a place is named, and never anything else."""
    why = explain_unwritable(artefact, format_)
    if why is not None:
        assert f"{artefact.urn} as {format_.title}: " in why
        return
    data = write_message(artefact, format_)
    assert list(read_message(data)) == [as_representable_in(artefact, format_)]


@pytest.mark.thorough
@given(artefacts=st.lists(TODAY, max_size=5), format_=st.sampled_from(SINCE_3))
@QUICK
def test_all_artefacts_of_a_message_come_back(artefacts: list[Artefact], format_: Format) -> None:
    """All artefacts of a message come back, and the bytes are the same each time."""
    assume(len({artefact.urn for artefact in artefacts}) == len(artefacts))
    data = write_message(artefacts, format_)
    assert data == write_message(artefacts, format_)
    assert {one.urn: one for one in read_message(data)} == {
        each.urn: as_representable_in(each, format_) for each in artefacts
    }


@pytest.mark.thorough
@given(artefact=TODAY, version=st.sampled_from(["30", "31"]))
@settings(QUICK, max_examples=examples(15))
def test_structure_is_valid(artefact: Artefact, version: str) -> None:
    """Elements and attributes follow the schema in its order, whatever the artefact contains."""
    schema = xml_schema(version)
    schema.validate(
        etree.fromstring(write_message(artefact, {"30": Format.SDMX_ML_3_0, "31": Format.SDMX_ML_3_1}[version]))
    )
    found = [
        fault.message
        for fault in schema_errors(schema)
        if "not expected" in fault.message or "not allowed" in fault.message
    ]
    assert found == []


@given(
    text=st.text(st.characters(exclude_categories=()), min_size=1, max_size=8),
    format_=st.sampled_from([Format(media_type) for media_type in media_types()]),
)
@example(text="0\n", format_=Format.EDI)
@QUICK
def test_any_text_is_kept_or_refused(text: str, format_: Format) -> None:
    """A name with controls, lone surrogates or separators comes back unchanged, or the artefact is refused.

    In SDMX-EDI a line end becomes a blank, as docs/writing-sdmx.md documents, and line ends around the name are
    removed.
    """
    source = read_message(b'{"Codelist":[{"id":"CL","agencyId":"AG","version":"1.0","items":[{"id":"A"}]}]}')
    [codelist] = source
    assert isinstance(codelist, Codelist)
    named = _named(codelist, text)
    try:
        data = write_message(named, format_)
    except UnwritableError:
        return
    [found] = read_message(data)
    lines = [line.strip() for line in re.split("[\r\n]", text)] if format_ is Format.EDI else [text]
    assert found.name("en") == (text if len(lines) == 1 else " ".join(filter(None, lines)))


def _named(codelist: Codelist, text: str) -> Codelist:
    from msgspec.structs import replace

    from kafka_replica.sdmx import InternationalString

    return replace(codelist, names=InternationalString([("en", text)]))
