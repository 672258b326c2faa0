"""A bad artefact does not affect the rest of its message where errors are collected: all formats, and look-ups."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from lxml import etree

from kafka_replica.sdmx import StructureCheck, Structures, Urn, read_message, split_message, split_readable
from kafka_replica.sdmx.errors import ArtefactNotFoundError, MessageError, SdmxError
from kafka_replica.sdmx.formats.json_shared.collection_names import CLASS_OF_COLLECTION
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.messages.message import Message
from support.effort import first_in_usual
from support.paths import SDMX_DATA
from support.sdmx.ml_messages_by_hand import old_ml
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, record, rows
from support.sdmx.sdmx_json_samples import SAMPLE, URN, artefact, message, named

EXTENSION = {"codelist": None, "inclusiveCodeSelection": {"memberValues": ["X"]}}
KINDS = [("sdmx-ml", version) for version in ("1.0", "2.0", "2.1", "3.0", "3.1")] + [
    ("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1"), ("fusion-json", ""), ("sdmx-edi", ""),
]  # fmt: skip


def collected(data: bytes) -> Message:
    """Return the message with the errors of its artefacts."""
    return read_message(data, on_error="collect")


def test_a_bad_artefact_of_36_loses_only_itself() -> None:
    """A message of 36 artefacts, one of them bad, gives 35; the error has the bad one's URN, location and reason."""
    lists: list[dict[str, Any]] = [artefact(f"CL{at}", codes=[named("X")]) for at in range(36)]
    lists[17]["codelistExtensions"] = [EXTENSION]
    data = message({"codelists": lists})
    with pytest.raises(MessageError, match="CL17"):
        read_message(data)
    found = collected(data)
    assert [one.id for one in found] == [f"CL{at}" for at in range(36) if at != 17]
    [error] = found.errors
    assert (error.cls, error.id, error.place) == ("Codelist", "CL17", "codelists[17]")
    assert error.urn == Urn.parse(f"{URN}codelist.Codelist=A:CL17(1.0.0)")
    assert "names no codelist to extend" in error.reason
    assert str(error).startswith(f"{error.urn} (codelists[17]): ")
    assert [part.urn.id for part in split_readable(data).parts] == [one.id for one in found]
    assert split_readable(data).errors == found.errors
    assert "1 unreadable" in repr(found)


@pytest.mark.parametrize(
    ("edition", "bad", "reason"),
    [
        ("1_0", '<s:CodeList id="CL.AREA" agency="A"><s:Name>n</s:Name></s:CodeList>', "'CL.AREA' cannot be its id"),
        ("1_0", '<s:CodeList id="B" agency="A" version="2008-draft_1"/>', "'2008-draft_1' cannot be its version"),
        ("2_0", '<s:CodeList id="B" agencyID="A" version="2008-draft_1"/>', "'2008-draft_1' cannot be its version"),
    ],
)
def test_ids_that_no_urn_can_have_concern_their_artefact_alone(edition: str, bad: str, reason: str) -> None:
    """The schemas of 1.0 and 2.0 allow ids and versions that cannot be in a URN; the rest of the message is read."""
    good = '<s:CodeList id="OK" agency="A" agencyID="A"><s:Name>n</s:Name></s:CodeList>'
    found = collected(old_ml(f"<CodeLists>{bad}{good}</CodeLists>", edition))
    assert [one.id for one in found] == ["OK"]
    assert [reason in error.reason for error in found.errors] == [True]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "row", first_in_usual(rows(*KINDS)[::7] + [row for at, row in enumerate(rows(*KINDS)) if at % 7], 35)
)
def test_a_bad_artefact_loses_only_itself_in_real_files(row: dict[str, str]) -> None:
    """Each spoiled artefact of a real file is listed, and all others are read and split as before."""
    data = data_of(row)
    if data[:2] in {b"\x1f\x8b", b"PK"}:
        pytest.skip("the file is packed")
    try:
        whole = read_message(data)
    except SdmxError:
        pytest.skip("the file cannot be read")
    assert list(collected(data)) == list(whole)
    assert collected(data).errors == ()
    assert split_readable(data) == (split_message(data), ())
    chance = random.Random(5)
    for urn in chance.sample(list(whole.artefacts), min(3, len(whole))):
        spoiled = SPOIL[row["format"]](data, urn)
        if spoiled is None:
            continue
        found = collected(spoiled)
        assert list(found) == [one for one in whole if one.urn != urn]
        assert found.errors, urn
        assert {error.cls for error in found.errors} <= {urn.cls, "Concept", "Agency", None}
        assert all(error.place and error.reason for error in found.errors)
        parts, errors = split_readable(spoiled)
        assert [part.urn for part in parts] == list(found.artefacts)
        assert set(found.errors) <= set(errors)
        with pytest.raises(SdmxError):
            read_message(spoiled)


def spoiled_xml(data: bytes, urn: Urn) -> bytes | None:
    """Return the message with an artefact's flag that is not a boolean, or with an item without an id."""
    root = etree.fromstring(data)
    versions = {urn.version, None} if urn.version == "1.0" else {urn.version}
    for element in root.iter("{*}*"):
        agency = (element.get("agencyID") or element.get("agency") or "").strip()
        if ((element.get("id") or "").strip(), agency) == (urn.id, urn.agency) and element.get("version") in versions:
            if etree.QName(element).localname.lower().replace("keyfamily", "datastructure") != urn.cls.lower():
                continue
            element.set("isExternalReference", "perhaps")
            return etree.tostring(root)
    return None


def spoiled_json(data: bytes, urn: Urn) -> bytes | None:
    """Return the message with an artefact whose names are a number."""
    content = json.loads(data.decode("utf-8-sig"))
    lists = content.get("data") or content
    for name, held in lists.items():
        is_of_class = urn.cls in {name, CLASS_OF_COLLECTION.get(name.lower())}
        for one in held if isinstance(held, list) and is_of_class else ():
            if not isinstance(one, dict):
                continue
            agency = one.get("agencyID") or one.get("agencyId")
            if (one.get("id"), agency, one.get("version", "1.0")) == (urn.id, urn.agency, urn.version):
                if [other.get("id") for other in held].count(urn.id) > 1:
                    return None
                one["names"] = 5
                one["links"] = one["annotations"] = 7
                return json.dumps(content).encode()
    return None


def spoiled_edi(data: bytes, urn: Urn) -> bytes | None:
    """Return the interchange with a code that appears twice in the codelist."""
    found = re.search(rf"VLI\+{re.escape(urn.id)}[^']*'(?:(?!VLI).)*?(CDV\+[^']*')".encode(), data, re.DOTALL)
    return None if found is None else data[: found.end()] + found[1] + data[found.end() :]


SPOIL = {"sdmx-ml": spoiled_xml, "sdmx-json": spoiled_json, "fusion-json": spoiled_json, "sdmx-edi": spoiled_edi}


def test_an_artefact_without_an_identity_is_listed_without_a_urn() -> None:
    """An artefact without identity is listed by class and line, without a URN; the others are read.

    A class whose value is not a list of artefacts gives one error.
    """
    root = etree.fromstring((SDMX_DATA / "every_class.sdmx30.xml").read_bytes())
    count = len(read_message(etree.tostring(root)))
    one = next(root.iter("{*}Dataflows"))[0]
    del one.attrib["id"]
    found = collected(etree.tostring(root))
    assert len(found) == count - 1
    [error] = found.errors
    assert (error.cls, error.id, error.urn) == ("Dataflow", None, None)
    assert re.fullmatch(r"line [0-9]+", error.place)
    data = json.loads(message(SAMPLE))
    data["data"]["codelists"] = {"id": "X"}
    [error] = collected(json.dumps(data).encode()).errors
    assert (error.cls, error.place) == ("Codelist", "codelists")


def test_two_copies_of_an_artefact_are_both_left_out() -> None:
    """Two copies of an artefact are both left out, whether one or both can be read: neither can be preferred."""
    twice = [artefact("CL", codes=[named("A")]), artefact("CL", codes=[named("B")]), artefact("OTHER")]
    for spoil in (False, True):
        if spoil:
            twice[0]["codelistExtensions"] = [EXTENSION]
        found = collected(message({"codelists": twice}))
        assert [one.id for one in found] == ["OTHER"]
        assert [error.place for error in found.errors] == ["codelists[0]", "codelists[1]"]
        assert [part.urn.id for part in split_readable(message({"codelists": twice})).parts] == ["OTHER"]


@pytest.mark.parametrize("data", [b"<a", b"{", b"", b"<m:Data xmlns:m='http://x'/>", b'{"data": {"dataSets": []}}'])
def test_a_message_that_cannot_be_opened_is_one_error(data: bytes) -> None:
    """A message that cannot be opened has no separate artefacts, so its error is raised in both modes."""
    with pytest.raises(MessageError):
        collected(data)
    with pytest.raises(MessageError):
        split_readable(data)


def whole_message(*, bad: str) -> tuple[Urn, bytes]:
    """Return a message of three lists, one of them bad, published under the URN of the first."""
    lists: list[dict[str, Any]] = [artefact(id_, codes=[named("A")]) for id_ in ("KEY", "GOOD", "OTHER")]
    next(list_ for list_ in lists if list_["id"] == bad)["codelistExtensions"] = [EXTENSION]
    return Urn.parse(f"{URN}codelist.Codelist=A:KEY(1.0.0)"), message({"codelists": lists})


@pytest.mark.parametrize("bad", ["KEY", "OTHER"])
@pytest.mark.parametrize("has_index", [False, True])
def test_a_record_of_several_artefacts_keeps_the_good_ones(bad: str, has_index: bool) -> None:
    """Look-ups find the good artefacts of a record; the bad one raises its reason, which unreadable_records() lists."""
    key, value = whole_message(bad=bad)
    snapshot = FakeSnapshot({bytes(key): record(bytes(key), value)})
    structures = Structures(snapshot, cache=DecodeCache())
    if has_index:
        structures.unreadable_records()
    for id_ in {"KEY", "GOOD", "OTHER"} - {bad}:
        assert structures.codelist(f"{URN}codelist.Codelist=A:{id_}(1.0.0)").id == id_
    with pytest.raises(MessageError, match=r"offset 0, key .*no codelist to extend"):
        structures.get(f"{URN}codelist.Codelist=A:{bad}(1.0.0)")
    [(found, error)] = structures.unreadable_records().items()
    assert found == key
    assert "no codelist to extend" in str(error)
    assert {urn.id for urn in structures.companions()} == {"GOOD", "OTHER"} - {bad}
    with pytest.raises(ArtefactNotFoundError):
        structures.get(f"{URN}codelist.Codelist=A:NONE(1.0.0)")


def test_only_the_artefact_of_the_key_makes_a_record_bad() -> None:
    """A record is bad if its own artefact is bad; a bad companion does not matter."""
    check = StructureCheck(whole=True)
    key, value = whole_message(bad="OTHER")
    check(record(bytes(key), value))
    key, value = whole_message(bad="KEY")
    with pytest.raises(MessageError, match="no codelist to extend"):
        check(record(bytes(key), value))
