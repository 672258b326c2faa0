"""Answers: formats, validity by the official schemas, errors, stored bytes, entity tags, and what an answer lacks."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Format, Structures, Urn, media_types, read_message, write_message
from kafka_replica.server.rest import RestAnswer, RestRequest, RestSettings, answer, unparsed_answer
from kafka_replica.server.rest.grammar import DETAILS, REFERENCES, Api, resources
from support.effort import examples
from support.sdmx.conversions import schema_faults
from support.sdmx.sdmx_corpus import FakeSnapshot, record
from support.server.registry import ARTEFACTS, urn, version_of

REGISTRY = version_of(ARTEFACTS.values())
JSON_21, ML_21, ML_30 = str(Format.SDMX_JSON_2_1), str(Format.SDMX_ML_2_1), str(Format.SDMX_ML_3_0)
FREQ = "structure/codelist/ECB/CL_FREQ/1.0"
_WORDS = (
    "structure", "v1", "v2", "schema", "codelist", "dataflow", "*", "all", "+", "~",
    "ECB", "EXR", "1.0",
)  # fmt: skip
_PARAMETERS = (
    "detail=raw", "detail=allstubs", "references=all",
    "references=codelist", "asOf=1", "format=json",
)  # fmt: skip


def get(path: str, query: str = "", accept: str = "", structures: Structures = REGISTRY, **more: Any) -> RestAnswer:
    """Return the answer to a request."""
    return answer(RestRequest(path, query, accept), structures, RestSettings(**more))


def header(given: RestAnswer, name: str) -> str | None:
    """Return a header of an answer."""
    return dict(given.headers).get(name)


def errors_of(given: RestAnswer) -> list[tuple[str, str]]:
    """Return the codes and texts of an error message, after checking the message by the official schema."""
    if given.body.startswith(b"{"):
        content = json.loads(given.body)
        content_type = header(given, "Content-Type") or ""
        format_ = Format(content_type) if content_type in set(Format) else Format.SDMX_JSON_2_0
        assert schema_faults(format_, given.body) == []
        return [(str(one["code"]), one["detail"]) for one in content["errors"]]
    root = etree.fromstring(given.body)
    format_ = next(one for one in (Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1)
                   if f"v{one.title[-3:].replace('.', '_')}/" in root.tag)  # fmt: skip
    assert schema_faults(format_, given.body) == []
    return [(one.get("code", ""), one[0].text or "") for one in root]


# --- formats ---


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", JSON_21),
        ("*/*", JSON_21),
        ("application/json", JSON_21),
        ("application/xml", str(Format.SDMX_ML_3_1)),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", str(Format.SDMX_ML_3_1)),
        (ML_21, ML_21),
        (f"{ML_21}, */*", ML_21),
        (f"application/*, {ML_30}", ML_30),
        ("application/vnd.sdmx.structure+xml", str(Format.SDMX_ML_3_1)),
        ("application/vnd.sdmx.structure+xml; version=3.0", "application/vnd.sdmx.structure+xml;version=3.0"),
        ("Application/Vnd.SDMX.Structure+XML;Version=2.1", ML_21),
        ("application/vnd.sdmx.structure+json;version=1.0.0", "application/vnd.sdmx.structure+json;version=1.0.0"),
        ("application/vnd.sdmx.structure+json;version=1.0", "application/vnd.sdmx.structure+json;version=1.0"),
        ('application/vnd.sdmx.structure+json; version="2.0.0"', str(Format.SDMX_JSON_2_0)),
        ("application/vnd.sdmx.structure+json;version=2.0.0+", str(Format.SDMX_JSON_2_0)),
        ("application/vnd.sdmx.structure+json;version=2+.0.0", JSON_21),
        (f"{ML_21};charset=UTF-8", f"{ML_21};charset=utf-8"),
        (f"{ML_21};urn=true", ML_21),
        (f"{ML_21};q=0.5, {ML_30}", ML_30),
        (f"{ML_30};q=0, application/vnd.sdmx.structure+xml;q=0.1", str(Format.SDMX_ML_3_1)),
        (f"{ML_21}, application/vnd.sdmx.structure+json;version=1.0.0;q=0.9", ML_21),
        ("application/vnd.fusion.json", str(Format.FUSION_JSON)),
        ("application/vnd.sdmx.data+json;version=2.0.0, */*;q=0.1", JSON_21),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", JSON_21),  # Java's HTTP client
        ("text/html, *", JSON_21),
        ("application/xml;q=high, text/csv", str(Format.SDMX_ML_3_1)),
        ("application/xml;q=high, application/json;q=0.01", JSON_21),
        ("application/xml;q=2", str(Format.SDMX_ML_3_1)),
        ("text/*", str(Format.SDMX_ML_3_1)),
        ("application/json;q=0.5, application/vnd.sdmx.structure+json, application/xml;q=0.8", JSON_21),
        ("application/vnd.sdmx.structure+json, application/json;q=0.5, application/xml;q=0.8", JSON_21),
    ],
)
def test_the_accept_header_determines_the_format(accept: str, content_type: str) -> None:
    """The best acceptable format is written, and named as the request wrote it."""
    given = get(FREQ, "", accept)
    assert (given.status, header(given, "Content-Type"), header(given, "Vary")) == (200, content_type, "Accept")
    assert list(read_message(given.body).artefacts) == [urn("Codelist ECB:CL_FREQ(1.0)")]


def test_the_default_of_1_x_is_sdmx_ml_2_1() -> None:
    """Without a preference, 1.x paths have SDMX-ML 2.1 and 2.x paths SDMX-JSON; both have all formats on request."""
    assert header(get("codelist/ECB/CL_FREQ/1.0"), "Content-Type") == ML_21
    assert header(get("codelist/ECB/CL_FREQ/1.0", "", "application/json"), "Content-Type") == str(Format.SDMX_JSON_1_0)
    assert header(get("codelist/ECB/CL_FREQ/1.0", "", ML_30), "Content-Type") == ML_30


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("sdmx-2.1", Format.SDMX_ML_2_1), ("sdmx-3.0", Format.SDMX_ML_3_0), ("sdmx-2.0", Format.SDMX_ML_2_0),
        ("sdmx-json", Format.SDMX_JSON_2_0), ("fusion-json", Format.FUSION_JSON), ("Fusion-JSON", Format.FUSION_JSON),
        ("sdmx-edi", Format.EDI), ("application/vnd.sdmx.structure%2Bxml;version=2.1", Format.SDMX_ML_2_1),
    ],
)  # fmt: skip
def test_the_parameter_format_takes_precedence(name: str, format_: Format) -> None:
    """FMR's names and media types are understood, whatever the header Accept says."""
    given = get(FREQ, f"format={name}&includeMetadata=true", JSON_21)
    assert given.status == 200, given.body
    assert read_message(given.body).format is format_


@pytest.mark.parametrize(
    "accept",
    [
        "text/csv", "invalid representation query", "application/vnd.sdmx.structure+xml;version=9",
        f"{ML_21};charset=iso-8859-1", ",;=", f"{ML_21};q=0", "*/*;q=.0",
    ],
)  # fmt: skip
def test_no_acceptable_format_is_406_with_the_formats_on_offer(accept: str) -> None:
    """The error names every media type that can be written, and comes in the default format."""
    given = get(FREQ, "", accept)
    [(_, text)] = errors_of(given)
    assert given.status == 406
    assert all(media_type in text for media_type in media_types())
    assert get(FREQ, "format=sdmx-9").status == 406


@pytest.mark.parametrize(
    ("path", "accept", "format_"),
    [
        ("v2/schema/dataflow/X/NONE", "application/vnd.sdmx.schema+xml;version=3.0.0", Format.SDMX_ML_3_0),
        ("v2/schema/dataflow/X/NONE", "application/vnd.sdmx.schema+xml", Format.SDMX_ML_3_1),
        ("v1/schema/dataflow/X/NONE", "application/vnd.sdmx.schema+json;version=1.0.0", Format.SDMX_JSON_1_0),
        ("v2/data/dataflow/X/NONE", "application/vnd.sdmx.genericdata+xml;version=2.1", Format.SDMX_ML_2_1),
        ("v1/data/NONE", "application/vnd.sdmx.data+json;version=2.0.0", Format.SDMX_JSON_2_0),
        ("v2/data/NONE", "text/csv, application/vnd.sdmx.data+xml;version=3.0.0;q=0.5", Format.SDMX_ML_3_0),
        ("v2/data/NONE", "application/vnd.sdmx.data+xml;q=0, text/csv", Format.SDMX_JSON_2_1),
        (FREQ, "application/vnd.sdmx.structure+xml;version=9", Format.SDMX_ML_3_1),
        (FREQ, f"{Format.SDMX_JSON_1_0};charset=utf-16", Format.SDMX_JSON_1_0),
    ],
)
def test_errors_are_in_xml_or_json_as_requested_even_if_no_offered_format_is(
    path: str, accept: str, format_: Format
) -> None:
    """A client of schemas or data that reads only XML, or one edition of it, can read the error."""
    given = get(path, "", accept)
    assert given.status in {404, 406, 501}
    assert header(given, "Content-Type") in {str(format_), "application/xml"}
    assert schema_faults(format_, given.body) == []


def test_without_a_preference_the_first_format_that_can_represent_everything_is_chosen() -> None:
    """A class of 2.1 that SDMX-JSON 2.x lacks comes in another format; with a preference the request is refused."""
    from support.paths import SDMX_DATA

    artefacts = [
        one
        for one in read_message((SDMX_DATA / "old_classes.sdmx21.xml").read_bytes())
        if one.urn.cls == "StructureSet"
    ]
    structures = version_of(artefacts, Format.SDMX_ML_2_1)
    assert header(get("structure/*", "", "*/*", structures), "Content-Type") in {ML_21, str(Format.SDMX_JSON_1_0)}
    refused = get("structure/*", "", JSON_21, structures)
    assert refused.status == 406
    assert "choose application/vnd.sdmx.structure" in errors_of(refused)[0][1]


# --- every answer is valid and equals a direct read ---


@pytest.mark.thorough
@pytest.mark.parametrize("accept", media_types())
@pytest.mark.parametrize("detail", ["raw", "full", "allstubs", "allcompletestubs", "referencepartial"])
def test_answers_in_every_format_are_valid_and_equal_a_direct_read(accept: str, detail: str) -> None:
    """All artefacts at once: the message is valid by the official schema, and names the artefacts that it lacks."""
    if accept == Format.XLSX:
        pytest.importorskip("xlsxwriter")
    given = get("structure/*/*/*/*", f"detail={detail}&references=all", accept)
    if given.status == 406:
        assert accept in {Format.EDI, Format.XLSX, Format.SDMX_ML_1_0, Format.SDMX_ML_2_0}
        return
    assert given.status == 200
    assert schema_faults(Format(accept), given.body) == []
    omitted = int(header(given, "Kafka-Replica-Omitted") or 0)
    message = read_message(given.body)
    assert len(message) + omitted == len(ARTEFACTS)
    if detail == "raw":
        direct = [REGISTRY.get(ARTEFACTS[artefact].urn) for artefact in ARTEFACTS if artefact in message.artefacts]
        again = read_message(write_message(direct, accept))  # type: ignore[arg-type]
        assert dict(message.artefacts) == dict(again.artefacts)
    has_place = accept in {ML_21, ML_30, Format.SDMX_ML_3_1, Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_0, JSON_21}
    assert (b"This answer does not contain urn:sdmx" in given.body) == (has_place and omitted > 0)


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_any_valid_query_has_a_valid_answer(data: st.DataObject) -> None:
    """Random resources, details, references and formats: 200, 404 or 406, in valid messages, never anything else."""
    api = data.draw(st.sampled_from(list(Api)))
    resource = data.draw(st.sampled_from(sorted(resources(api))))
    detail = data.draw(st.sampled_from([one for one, apis in DETAILS.items() if api in apis]))
    values = [one for one, apis in REFERENCES.items() if api in apis]
    references = data.draw(st.sampled_from([*values, *sorted(resources(api))]))
    accept = data.draw(
        st.sampled_from([*(media_type for media_type in media_types() if media_type != Format.XLSX), "", "text/plain"])
    )
    path = f"{'v2/structure' if api is Api.V2 else 'v1'}/{resource}/{data.draw(st.sampled_from(['all', 'ECB']))}"
    given = get(path, f"detail={detail}&references={references}", accept)
    assert given.status in {200, 404, 406}
    if given.status == 200:
        found = read_message(given.body)
        assert schema_faults(found.format, given.body) == []
    else:
        assert errors_of(given)


# --- errors ---


@pytest.mark.parametrize("accept", ["", ML_21, ML_30, str(Format.SDMX_ML_3_1), JSON_21, str(Format.SDMX_JSON_1_0),
                                    str(Format.SDMX_JSON_2_0), str(Format.FUSION_JSON), str(Format.EDI)])  # fmt: skip
@pytest.mark.parametrize(
    ("path", "query", "status", "code"),
    [
        ("structure/codelist/ECB/NONE", "", 404, "100"),
        ("v2/structure/codelists", "", 400, "140"),
        ("structure/codelist/%3C%26%00%EF%BF%BF/x", "", 400, "140"),
        ("data/ECB,EXR", "", 501, "501"),
        ("structure/codelist", "asOf=12", 501, "501"),
        ("schema/dataflow/ECB/NONE", "", 404, "100"),
    ],
)
def test_errors_are_messages_of_the_requested_format(
    accept: str, path: str, query: str, status: int, code: str
) -> None:
    """The message is valid by its official schema, and has the standard's code; since 2.1, SDMX-JSON has HTTP's."""
    given = get(path, query, accept)
    assert given.status == status
    [(found, text)] = errors_of(given)
    assert found == (str(status) if (header(given, "Content-Type") or "") == JSON_21 else code)
    assert text


def test_a_version_in_the_past_is_answered_by_the_settings() -> None:
    """``asOf`` selects the version of the answer and of its tag; an instant that is not kept is an error."""

    def version_at(as_of: str) -> Structures:
        if as_of != "12":
            raise UsageError("version 13 was dropped after 7 days")
        return version_of([ARTEFACTS[urn("Codelist BIS:CL_FREQ(1.0)")]], version=12)

    given = get("structure/codelist", "asOf=12", version_at=version_at)
    assert list(read_message(given.body).artefacts) == [urn("Codelist BIS:CL_FREQ(1.0)")]
    assert (header(given, "ETag") or "").startswith('W/"12-')
    dropped = get("structure/codelist", "asOf=13", version_at=version_at)
    assert (dropped.status, "dropped after 7 days" in errors_of(dropped)[0][1]) == (422, True)


def test_an_answer_larger_than_the_limit_is_refused() -> None:
    """The limit of the settings applies to the size of the message, in any format."""
    assert get(FREQ, max_bytes=100_000).status == 200
    refused = get(FREQ, max_bytes=100)
    assert refused.status == 413


def test_json_schemas_are_not_offered() -> None:
    """A request for JSON schemas has 501; the same query in a structure format has an answer."""
    assert get("schema/dataflow/ECB/EXR/1.0", "", "application/vnd.sdmx.schema+json;version=2.0.0").status == 501
    assert get("schema/dataflow/ECB/EXR/1.0").status == 200


@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_message_in_another_encoding_is_written_again_if_the_request_names_a_charset(*, is_indexed: bool) -> None:
    """The header names UTF-8 then; otherwise the stored message declares its encoding itself."""
    path = "codelist/ECB/CL_FREQ/1.0"
    utf_8 = write_message(ARTEFACTS[urn("Codelist ECB:CL_FREQ(1.0)")], Format.SDMX_ML_2_1).replace(
        b"Nom", "Libellé".encode()
    )
    for encoding, is_stored in (("UTF-8", True), ("ISO-8859-1", False)):
        stored = utf_8.decode().replace('encoding="UTF-8"', f'encoding="{encoding}"').encode(encoding)
        structures = _stored(urn("Codelist ECB:CL_FREQ(1.0)"), stored)
        if is_indexed:
            structures.unreadable_records()
        asked = [RestRequest(path, "", accept) for accept in (ML_21, f"{ML_21};charset=utf-8")]
        given = [unparsed_answer(each, structures) or answer(each, structures) for each in asked]
        assert [each.body == stored for each in given] == [True, is_stored], encoding
        assert "Libellé" in given[1].body.decode()


# --- entity tags ---


def test_a_known_version_is_304_without_a_body() -> None:
    """The tag depends on version, address and format; the same request with the tag has no body."""
    first = get(FREQ)
    tag = header(first, "ETag") or ""
    for if_none_match in (tag, f'"x", {tag}', tag.removeprefix("W/")):
        again = answer(RestRequest(FREQ, "", "", if_none_match), REGISTRY)
        assert (again.status, again.body, header(again, "ETag")) == (304, b"", tag)
    newer = version_of(ARTEFACTS.values(), version=8)
    others = [get(FREQ, "", ML_21), get(FREQ, "detail=full"), get(FREQ, "", "", newer), get("structure/codelist/*/*/*")]
    assert tag not in {header(other, "ETag") for other in others}
    assert len({header(other, "ETag") for other in others}) == 4
    nothing = RestRequest(FREQ.replace("CL_FREQ", "CL_NONE"), "", "", tag)
    assert answer(nothing, REGISTRY).status == 404
    assert unparsed_answer(nothing, REGISTRY) is None
    for stale in ('"', "W/", '"7"'):
        assert answer(RestRequest(FREQ, "", "", stale), REGISTRY).status == 200


def test_any_tag_is_304_only_if_there_is_an_answer() -> None:
    """``If-None-Match: *`` is about whether something exists; errors stay as they are."""
    given = answer(RestRequest(FREQ, "", "", " * "), REGISTRY)
    assert (given.status, given.body, header(given, "Content-Type")) == (304, b"", None)
    assert header(given, "ETag") == header(get(FREQ), "ETag")
    for path, accept, status in (
        ("structure/codelist/X/NONE", "", 404),
        (FREQ, "text/csv", 406),
        ("x/y/z/1/2/3", "", 400),
    ):
        assert answer(RestRequest(path, "", accept, "*"), REGISTRY).status == status


# --- stored bytes ---


@pytest.mark.parametrize("format_", [Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_JSON_2_0, Format.FUSION_JSON])
@pytest.mark.parametrize("packed", [False, True])
def test_a_stored_message_that_is_the_complete_answer_is_served_unparsed(format_: Format, *, packed: bool) -> None:
    """The bytes of the record are the body, without compression, and spaces that no writer writes stay."""
    codelist = ARTEFACTS[urn("Codelist ECB:CL_FREQ(1.0)")]
    stored = write_message(codelist, format_).replace(b'"><', b'"  ><').replace(b"{", b"{  ")
    structures = _stored(codelist.urn, gzip.compress(stored) if packed else stored)
    for path in (FREQ, "codelist/ECB/CL_FREQ/latest", "structure/*"):
        assert get(path, "", format_, structures).body == stored
    assert get(FREQ, "detail=raw", format_, structures).body == stored
    other = Format.SDMX_JSON_2_1 if format_ is not Format.SDMX_JSON_2_1 else Format.SDMX_ML_2_1
    for query, accept in (("", other), ("detail=allstubs", format_)):
        assert get(FREQ, query, accept, structures).body != stored
    assert get(f"{FREQ}/A", "", format_, structures).body != stored


def _stored(key: Urn, value: bytes, content_type: str | None = None) -> Structures:
    return Structures(FakeSnapshot({bytes(key): record(bytes(key), value, content_type)}))


def test_a_stored_message_that_is_not_the_answer_is_written_again() -> None:
    """Messages in another encoding, of a registry, or with more artefacts or extensions are not served as they are."""
    codelist = ARTEFACTS[urn("Codelist ECB:CL_FREQ(1.0)")]
    body = write_message(codelist, Format.SDMX_ML_2_1).partition(b"?>")[2].strip().decode()
    utf_16 = f'<?xml version="1.0" encoding="UTF-16"?>{body}'.encode("utf-16")
    two = write_message([codelist, ARTEFACTS[urn("Codelist BIS:CL_FREQ(1.0)")]], Format.SDMX_ML_2_1)
    for stored in (utf_16, two):
        given = get(FREQ, "", ML_21, _stored(codelist.urn, stored))
        assert (given.status, given.body == stored) == (200, False)
        assert list(read_message(given.body).artefacts) == [codelist.urn]
    more = ARTEFACTS[urn("Codelist ECB:CL_MORE(1.0.0)")]
    structures = version_of([codelist, more])
    stored_more = structures.stored_message(more.urn)
    assert stored_more is not None
    assert get("structure/codelist/ECB/CL_MORE", "detail=raw", ML_30, structures).body == stored_more.data
    assert get("structure/codelist/ECB/CL_MORE", "", ML_30, structures).body != stored_more.data


# --- what an answer lacks ---


def test_unreadable_records_are_named_and_never_silently_missing() -> None:
    """An unreadable artefact alone is an error; among others the answer names it or is refused, as settings say."""
    good, bad = urn("Codelist ECB:CL_FREQ(1.0)"), urn("Codelist ECB:CL_BAD(1.0)")
    snapshot = FakeSnapshot({
        bytes(good): record(bytes(good), write_message(ARTEFACTS[good], Format.SDMX_ML_2_1)),
        bytes(bad): record(bytes(bad), b"<broken"),
    })  # fmt: skip
    structures = Structures(snapshot)
    alone = get("structure/codelist/ECB/CL_BAD/1.0", "", "", structures)
    assert (alone.status, "CL_BAD" in errors_of(alone)[0][1]) == (500, True)
    for accept in (ML_21, JSON_21, str(Format.FUSION_JSON)):
        both = get("structure/codelist", "", accept, structures)
        assert (both.status, header(both, "Kafka-Replica-Omitted")) == (200, "1")
        assert schema_faults(Format(accept), both.body) == []
        assert (b"CL_BAD" in both.body) == (accept != Format.FUSION_JSON)
    assert get("structure/codelist", "", ML_21, structures, unwritable="reject").status == 500
    related = get("structure/codelist/ECB/CL_FREQ/1.0", "references=parents", ML_21, structures)
    assert (related.status, b"1 record of this version cannot be read" in related.body) == (200, True)


@pytest.mark.parametrize("path", ["structure/codelist/*/*/~/NOPE", "v1/actualconstraint"])
def test_an_unreadable_record_does_not_make_an_error_of_an_empty_result(path: str) -> None:
    """The record, which might have the requested items or role, is named; answers that must be complete are refused."""
    bad = [urn("Codelist ECB:BAD(1.0)"), urn("DataConstraint ECB:BAD(1.0)")]
    good = [urn("Codelist ECB:CL_FREQ(1.0)"), urn("DataConstraint ECB:EXR_CODES(1.0)")]
    records = {bytes(one): record(bytes(one), write_message(ARTEFACTS[one], Format.SDMX_ML_3_0)) for one in good}
    broken = {bytes(one): record(bytes(one), b"<broken") for one in bad}
    structures = Structures(FakeSnapshot({**records, **broken}))
    empty = get(path, "", "", structures)
    assert (empty.status, header(empty, "Kafka-Replica-Omitted")) == (404, "1")
    assert "ECB:BAD(1.0)" in errors_of(empty)[0][1]
    no_content = get(path, "", "", structures, empty_status=204)
    assert (no_content.status, header(no_content, "Kafka-Replica-Omitted")) == (204, "1")
    assert get(path, "", "", structures, unwritable="reject").status == 500
    assert get(path, "", "", Structures(FakeSnapshot(broken))).status == 500


def test_artefacts_that_a_format_cannot_represent_are_named() -> None:
    """SDMX-ML 2.1 has no value lists: an answer with one says so, or is refused, as the settings say."""
    partly = get("structure/*/*/*/*", "", ML_21)
    assert partly.status == 200
    assert b"ValueList" in partly.body
    assert int(header(partly, "Kafka-Replica-Omitted") or 0) > 0
    assert get("structure/*/*/*/*", "", ML_21, unwritable="reject").status == 406
    assert get("structure/valuelist", "", ML_21).status == 406


# --- hostile requests ---


@pytest.mark.thorough
@pytest.mark.scaled
@settings(max_examples=examples(300, long=500, proof=10_000), deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(_WORDS),
            st.text(max_size=8),
            st.binary(max_size=4).map(lambda data: "".join(f"%{byte:02x}" for byte in data)),
        ),
        max_size=7,
    ).map("/".join),
    st.lists(
        st.one_of(
            st.sampled_from(_PARAMETERS),
            st.text(max_size=8),
        ),
        max_size=3,
    ).map("&".join),
    st.one_of(st.sampled_from(["", "*/*", ML_21, JSON_21]), st.text(max_size=20)),
    st.one_of(st.just(""), st.text(max_size=20)),
)  # fmt: skip
def test_hostile_requests_have_an_answer(path: str, query: str, accept: str, if_none_match: str) -> None:
    """No text raises, and no status but 501 is the server's error."""
    given = answer(RestRequest(path, query, accept, if_none_match), REGISTRY)
    assert given.status in {200, 304, 400, 404, 406, 414, 422, 501}
    assert given.status == 304 or given.body


def test_halves_of_surrogate_pairs_have_an_answer() -> None:
    """Text that UTF-8 cannot encode is no reason to fail."""
    assert get(f"{FREQ}/\ud800").status == 404
    assert get("structure/codelist/\ud800", "detail=\ud800", "\ud800").status == 400
