"""Records of structures that a replica rejects."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from kafka_replica.sdmx import Structures, check_structure, read_message, split_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError, MessageError, SdmxError, UnreadableContentError, UrnError
from kafka_replica.sdmx.records import validator as module
from kafka_replica.sdmx.records.validator import StructureCheck
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.testing import FakeTopic
from support.sdmx.ml_messages_by_hand import codelist_xml, xml
from support.sdmx.sdmx_corpus import record
from support.sdmx.sdmx_json_samples import SAMPLE, URN, artefact, message, named

KEY = f"{URN}codelist.Codelist=A:CL(1.0)"
LIST = codelist_xml('<s:Code id="A"/>')
JSON = message({"codelists": [artefact("CL", version="1.0", codes=[named("A")])]})
STUB = xml('<s:Codelists><s:Codelist id="CL" agencyID="A" version="1.0" isExternalReference="true"/></s:Codelists>')
JSON_STUB = message({"codelists": [artefact("CL", version="1.0", isExternalReference=True)]})
FULL_BUT_MARKED = STUB.replace(b'"true"/>', b'"true"><s:Code id="A"/></s:Codelist>')
CHECKS = {"look": StructureCheck(), "whole": StructureCheck(whole=True)}


def of(value: bytes, key: str = KEY) -> Any:
    """Return a record."""
    return record(key.encode(), value)


@pytest.fixture(params=list(CHECKS))
def check(request: pytest.FixtureRequest) -> StructureCheck:
    """The quick check and the check that reads."""
    return CHECKS[request.param]


def test_each_artefact_of_the_samples_passes(check: StructureCheck) -> None:
    """Each artefact split from the samples passes, plain and in gzip, also where stubs are refused."""
    parts = [part for path in sample_files() for part in split_message(path.read_bytes())]
    parts += [part for part in split_message(message(SAMPLE)) if not part.urn.id.startswith("EXT")]
    for part in parts:
        check(record(bytes(part.urn), part.value, part.content_type))
        check(record(bytes(part.urn), gzip.compress(part.value), part.content_type))


@pytest.mark.parametrize("value", [LIST, JSON], ids=["xml", "json"])
@pytest.mark.parametrize(
    ("key", "error", "reason"),
    [
        (KEY.replace("CL(", "CL2("), MessageError, r"disagrees with the content, which holds urn:.*A:CL\(1\.0\)"),
        (KEY.replace("1.0", "1.1"), MessageError, "disagrees"),
        (KEY.replace("=A:", "=B:"), MessageError, "disagrees"),
        (KEY.replace("codelist.Codelist", "codelist.ValueList"), MessageError, "disagrees"),
        (KEY.replace("Codelist=", "Code=") + ".A", UrnError, "belongs to an item"),
        ("A:CL(1.0)", UrnError, "urn:sdmx"),
    ],
)
def test_keys_that_disagree(check: StructureCheck, value: bytes, key: str, error: type[SdmxError], reason: str) -> None:
    """Another id, version, agency or class in the key, a key of an item, and a key that is not a URN are refused."""
    check(of(value))
    with pytest.raises(error, match=reason):
        check(of(value, key))


@pytest.mark.parametrize(
    "value",
    [b"", b"<", b"{", b"\x1f\x8bnothing", b"<html/>", LIST[:-5], LIST[:300], JSON[:-3], JSON.replace(b'"data"', b'"x"'),
     b"<!DOCTYPE x>" + LIST, gzip.compress(LIST)[:-4]],
)  # fmt: skip
def test_content_that_cannot_be_read(value: bytes) -> None:
    """Empty, truncated and foreign content is refused; the check that reads finds faults that only reading shows."""
    with pytest.raises(MessageError):
        CHECKS["whole"](of(value))
    if value[:2] != b"\x1f\x8b" or value[2:3] == b"n":
        with pytest.raises(MessageError):
            CHECKS["look"](of(value))


def test_damage_in_the_middle_is_for_the_check_that_reads() -> None:
    """Damage in the middle passes the quick check, as documented, and fails the check that reads."""
    damaged = LIST.replace(b'<s:Code id="A"/>', b'<s:Code id="A">')
    CHECKS["look"](of(damaged))
    with pytest.raises(MessageError):
        CHECKS["whole"](of(damaged))


def test_unusual_content_is_left_to_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Content with a comment, an entity or another artefact first is left to the reader by the quick check."""
    read: list[bytes] = []
    real = read_message
    monkeypatch.setattr(
        module, "read_message", lambda *given, **options: read.append(given[0]) or real(*given, **options)
    )
    check_structure(of(LIST))
    check_structure(of(JSON))
    check_structure(of(gzip.compress(LIST)))
    assert read == []
    tag = b'<s:Codelist id="CL" agencyID="A" version="1.0" >'
    assert tag in LIST
    odd = [
        LIST.replace(tag, b"<!-- " + tag + b" -->" + tag),
        LIST.replace(b'id="CL"', b'id="&#67;L"'),
        LIST.replace(tag, b'<s:Codelist id="FIRST" agencyID="A"/>' + tag),
        LIST.decode().encode("utf-16"),
    ]
    for value in odd:
        check_structure(of(value))
    assert read == odd
    with pytest.raises(MessageError, match="disagrees"):
        check_structure(of(LIST.replace(tag, b"<!-- " + tag + b" -->" + tag.replace(b"CL", b"OTHER"))))


@pytest.mark.parametrize("value", [STUB, JSON_STUB], ids=["xml", "json"])
@pytest.mark.parametrize("whole", [False, True])
def test_stubs_are_refused_on_request(value: bytes, *, whole: bool) -> None:
    """Stubs pass and are refused on request; an artefact that is marked as a stub but has content is not a stub."""
    StructureCheck(whole=whole)(of(value))
    refusing = StructureCheck(whole=whole, stubs=False)
    refusing(of(LIST))
    refusing(of(FULL_BUT_MARKED))
    with pytest.raises(UnreadableContentError, match="is a stub"):
        refusing(of(value))


def test_stubs_without_the_mark() -> None:
    """A dataflow without a structure, or a data structure without components, counts as a stub without the mark."""
    refusing = StructureCheck(stubs=False)
    flow = xml('<s:Dataflows><s:Dataflow id="F" agencyID="A" version="1.0"/></s:Dataflows>')
    with pytest.raises(UnreadableContentError, match="left out"):
        refusing(of(flow, f"{URN}datastructure.Dataflow=A:F(1.0)"))
    refusing(of(codelist_xml("")))


def test_in_a_replica() -> None:
    """A bad record is set aside and listed; its key is missing until a good record comes: no stub replaces a list."""
    topic = FakeTopic()
    check = StructureCheck(stubs=False)
    with topic.replica(validator=check, on_bad_record="skip") as replica:
        topic.put(KEY, LIST)
        replica.wait_for(topic.end(), 60)
        assert list(Structures(replica.snapshot()).codelist("A:CL(1.0)").codes) == ["A"]
        topic.put(KEY, STUB)
        topic.put(KEY.replace("CL", "OTHER"), LIST)
        replica.wait_for(topic.end(), 60)
        assert len(replica.snapshot()) == 0
        reasons = [bad.reason for bad in replica.bad_records]
        assert ["is a stub" in reason for reason in reasons] == [True, False]
        assert ["disagrees" in reason for reason in reasons] == [False, True]
        topic.put(KEY, LIST)
        replica.wait_for(topic.end(), 60)
        assert list(Structures(replica.snapshot()).codelist("A:CL(1.0)").codes) == ["A"]


def test_look_ups_in_a_stub_raise() -> None:
    """Without the check a stub replaces the list: look-ups in it raise, and nothing in it seems empty."""
    topic = FakeTopic()
    with topic.replica() as replica:
        topic.put(KEY, LIST)
        topic.put(KEY, STUB)
        replica.wait_for(topic.end(), 60)
        structures = Structures(replica.snapshot())
        found = structures.codelist("A:CL(1.0)")
        assert found.is_stub
        with pytest.raises(UnreadableContentError, match="is a stub"):
            structures.get(KEY.replace("Codelist=", "Code=") + ".A")
        with pytest.raises(UnreadableContentError, match="is a stub"):
            len(found.codes)
        with pytest.raises(ArtefactNotFoundError):
            structures.get(KEY.replace("CL", "NONE"))
