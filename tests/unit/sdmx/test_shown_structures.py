"""Displays of structures, rules, maps and reports in a REPL and in a notebook."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import polars as pl
import pytest

from kafka_replica.data.mapping import compile_map
from kafka_replica.data.polars import report, validate
from kafka_replica.data.validation import compile_rules, generate_rows
from kafka_replica.producer import TransactionalProducer
from kafka_replica.sdmx import (
    DecodeCache,
    InternationalString,
    Items,
    LiveStructures,
    read_files,
    read_message,
    split_readable,
)
from kafka_replica.sdmx.lookups.file_structures import FileStructures
from kafka_replica.sdmx.model.base import Maintainable
from kafka_replica.sdmx.samples import extra_files, sample_files
from kafka_replica.testing import FakeTopic
from support.paths import SDMX_DATA
from support.sdmx.sdmx_json_samples import message

DATA = SDMX_DATA
LONGEST = 450
FREQ, LABOUR = "SDMX:CL_FREQ(2.1)", "KR_DEMO:LABOUR(1.0)"


@pytest.fixture(scope="module")
def structures() -> FileStructures:
    """The sample."""
    return read_files(*sample_files(), *(file for file in extra_files() if file.suffix == ".xml"))


def codelist(count: int) -> Maintainable:
    """Return a codelist with the given number of codes, one of which has a hostile name."""
    codes = [{"id": f"C{at}", "name": f"Code {at}"} for at in range(count)]
    codes[0]["name"] = "<script>alert('x')</script> & \u2028 $y$ " + "long " * 100
    held = {"id": "CL", "agencyID": "A", "version": "1.0", "name": 'With "quotes"\nand lines', "codes": codes}
    [found] = read_message(message({"codelists": [held]}))
    return found


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        (("codelist", FREQ), '<Codelist SDMX:CL_FREQ(2.1) "Frequency" 6 codes>'),
        (
            ("data_structure", "KR_DEMO:DSD_LABOUR(1.0)"),
            '<DataStructure KR_DEMO:DSD_LABOUR(1.0) "Labour market" 5 dimensions, 1 measure, 3 attributes, 1 group>',
        ),
        (("dataflow", LABOUR), f'<Dataflow {LABOUR} "Labour market" of KR_DEMO:DSD_LABOUR(1.0)>'),
        (("agency_scheme", "SDMX:AGENCIES(1.0)"), '"SDMX agencies" 1 organisation, partial>'),
        (("structure_map", "KR_DEMO:LABOUR_TO_PANEL(1.0)"), '"Labour market to panel" 5 component maps>'),
    ],
)  # fmt: skip
def test_an_artefact_shows_class_reference_and_counts(
    structures: FileStructures, reference: tuple[str, str], shown: str
) -> None:
    """An artefact shows class, reference, name and counts."""
    kind, name = reference
    assert repr(getattr(structures, kind)(name)).endswith(shown)


def test_items_and_parts(structures: FileStructures) -> None:
    """A code, a component and their parts are one line each, without absent properties."""
    freq = structures.codelist(FREQ)
    assert repr(freq.codes["A"]) == '<Code SDMX:CL_FREQ(2.1).A "Annual">'
    assert repr(freq.codes) == "<6 items: A, S, Q, M, W, ...>"
    assert repr(structures.codelist("KR_DEMO:CL_REF_AREA(1.0)").codes["BE"]).endswith(" below W10>")
    dsd = structures.data_structure("KR_DEMO:DSD_LABOUR(1.0)")
    assert repr(dsd.dimension_list["FREQ"]) == "<Dimension KR_DEMO:DSD_LABOUR(1.0).FREQ position 1>"
    assert repr(dsd.dimension_list["TIME_PERIOD"]) == "<Dimension KR_DEMO:DSD_LABOUR(1.0).TIME_PERIOD time>"
    assert repr(dsd.attributes["DECIMALS"].relationship) == "AttributeRelationship(kind='group', groups=('Sibling',))"
    assert repr(dsd.measures["OBS_VALUE"].representation) == "Representation(format=TextFormat(text_type='Double'))"


@pytest.mark.parametrize("file", sorted(DATA.iterdir()), ids=lambda path: path.name)
def test_every_class_is_shown_shortly(file: Path) -> None:
    """Every artefact and every part of it, of every class, is one short line, stubs, too."""
    held = read_message(file.read_bytes())
    assert "artefact" in repr(held)
    for artefact in held:
        pending: list[object] = [artefact]
        while pending:
            one = pending.pop()
            if isinstance(one, msgspec.Struct) and not isinstance(one, InternationalString):
                text = repr(one)
                assert len(text) <= LONGEST, text
                assert "\n" not in text
                assert " object at 0x" not in text
                pending += [getattr(one, name) for name in one.__struct_fields__]
            pending += list(one) if type(one) is tuple else ()
            pending += list(one.values()) if isinstance(one, Items) and not one.is_stub else ()
        artefact._repr_html_()


def test_a_stub_and_an_unknown_class_are_shown() -> None:
    """A stub and an unknown class are shown without an error, though accessing their content raises."""
    held = {"id": "CL", "agencyID": "A", "version": "1.0", "name": "n", "isExternalReference": True}
    [stub] = read_message(message({"codelists": [held]}))
    assert repr(stub) == '<Codelist A:CL(1.0) "n" stub>'
    assert stub._repr_html_() is None


def test_a_long_codelist_is_shown_in_part() -> None:
    """5,000 codes are one line, and twenty rows in a notebook; names are escaped, on one line and shortened."""
    found = codelist(5000)
    assert repr(found) == '<Codelist A:CL(1.0) "With \\"quotes\\"\\nand lines" 5,000 codes>'
    html = found._repr_html_() or ""
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "the first 20 codes of 5,000" in html
    assert html.count("<tr>") == 21
    assert len(html) < 10_000


def test_look_ups_of_a_version(structures: FileStructures) -> None:
    """Look-ups show their number of artefacts if it is known, without reading a record or making an index."""
    fresh = read_files(*sample_files(), cache=DecodeCache())
    assert repr(fresh) == "<FileStructures of version 1>"
    table = fresh._repr_html_()
    assert table.count("<tr>") == 16
    assert repr(fresh) == "<FileStructures of version 1>"
    assert len(fresh) == 15
    assert repr(fresh) == "<FileStructures of version 1, 15 artefacts>"
    resolved = structures.resolve(LABOUR)
    assert repr(resolved) == f"<ResolvedStructure {LABOUR} in version 1: 9 components, 0 constraints>"
    assert "coded by SDMX:CL_FREQ(2.1)" in resolved._repr_html_()
    assert repr(resolved.components["FREQ"]) == "<EffectiveComponent FREQ, dimension, coded by SDMX:CL_FREQ(2.1)>"
    assert "INDICATOR" in (structures.data_structure("KR_DEMO:DSD_LABOUR(1.0)")._repr_html_() or "")
    assert "female" in (structures.representation_map("KR_DEMO:SEX_TO_GENDER(1.0)")._repr_html_() or "")


def test_live_look_ups() -> None:
    """Showing live look-ups applies no change; closed look-ups can be shown."""
    topic = FakeTopic("codes")
    topic.put("a", b"1")
    with topic.replica() as replica:
        replica.wait_ready(30)
        with LiveStructures(replica) as live:
            assert repr(live) == "<LiveStructures of <FakeReplica codes: live, version 1, 1 key>, not queried yet>"
            live.structures()
            topic.put("b", b"1")
            replica.wait_for(topic.end(), 30)
            assert repr(live).endswith("version 2, 2 keys>, last queried in version 1>")
        assert repr(live) == "<LiveStructures, closed>"


def test_messages_and_parts() -> None:
    """Messages and parts show counts instead of contents."""
    data = sample_files()[1].read_bytes()
    assert repr(read_message(data)) == "<SDMX-ML 2.1 message of 5 artefacts>"
    split = split_readable(data)
    assert repr(split) == "<SplitMessage, 5 parts, 0 unreadable>"
    assert len(repr(split.parts[0])) < LONGEST
    assert repr(DecodeCache(1_000_000)) == "<DecodeCache, 0 messages, 0.0 of 1.0 MB>"


@pytest.mark.thorough
def test_rules_maps_and_reports(structures: FileStructures) -> None:
    """Rules and maps show artefact, version and counts, reports whether data is valid, with a table of findings."""
    rules = compile_rules(structures, LABOUR)
    assert repr(rules).startswith(f"<Rules of {LABOUR} in version 1: 9 columns, ")
    assert all(len(repr(check)) < LONGEST for check in rules.checks)
    plan = compile_map(structures, "KR_DEMO:LABOUR_TO_PANEL(1.0)")
    assert repr(plan).endswith("KR_DEMO:DSD_LABOUR(1.0) to KR_DEMO:DSD_PANEL(1.0), 5 maps of components>")
    rows = pl.DataFrame(generate_rows(rules, 10, 1), infer_schema_length=None).with_columns(SEX=pl.lit("<b>"))
    found = report(validate(rows, rules), rules)
    assert repr(found) == f"<Report of {LABOUR} in version 1: 10 rows, 10 with findings, not valid>"
    assert "code-unknown" in found._repr_html_()


def test_a_producer_of_transactions() -> None:
    """A producer shows its name and its topic."""
    topic = FakeTopic("codes")
    writer = topic.producer("registry-1")
    assert isinstance(writer, TransactionalProducer)
    assert repr(writer) == "<FakeProducer registry-1 to codes>"
    assert json.dumps(repr(writer))
