"""Answers from stored bytes without a parser: the answer of the parser's way, or none."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_replica.sdmx import Format, Structures, Urn, explain_unwritable, write_message
from kafka_replica.sdmx.formats.registry import WRITTEN
from kafka_replica.server import create_app
from kafka_replica.server.answers.default_answer import DefaultAnswer
from kafka_replica.server.rest import RestAnswer, RestRequest, answer, unparsed_answer
from kafka_replica.server.rest.grammar import Api, resources
from kafka_replica.server.rest.named_artefact import named_artefact
from kafka_replica.server.rest.query import StructureQuery
from kafka_replica.server.rest.query_parser import parse_query
from kafka_replica.testing import FakeTopic
from support.effort import examples
from support.sdmx.sdmx_corpus import FakeSnapshot, record
from support.server.app_tools import URN, client_of
from support.server.registry import ARTEFACTS, urn, version_of

LIST = urn("Codelist ECB:CL_FREQ(1.0)")
PATH = "v2/structure/codelist/ECB/CL_FREQ/1.0"
JSON_20 = Format.SDMX_JSON_2_0
_WORDS = (
    "v1", "v2", "structure", "schema", "data", "codelist", "dataflow", "structureset", "dataconstraint", "*", "all",
    "ALL", "ECB", "ECB.DISS", "ECB.", "9A", "CL_FREQ", "CL@$-", "EXR", "1", "1.0", "01.0", "1.0.0", "1.0.0-draft",
    "1.0+", "~", "latest", "", "A,B", "A+B", "%45CB", "É", "1.0\n", "٣",
)  # fmt: skip


def known(*artefacts: Any, format_: Format = JSON_20) -> Structures:
    """Return a version whose references have been looked up."""
    structures = version_of(artefacts, format_)
    structures.unreadable_records()
    return structures


def stored(key: Urn, value: bytes, content_type: str | None = None) -> Structures:
    """Return a version with one record, whose references have been looked up."""
    structures = Structures(FakeSnapshot({bytes(key): record(bytes(key), value, content_type)}))
    structures.unreadable_records()
    return structures


def named_by_parser(path: str) -> tuple[Api, set[tuple[str, str, str, str]]] | None:
    """Return what the parser finds, if the path names one artefact completely."""
    query = parse_query(path)
    if not isinstance(query, StructureQuery) or query.items or query.resource.role is not None:
        return None
    if any(len(each) != 1 for each in (query.agencies, query.ids, query.versions)) or query.versions[0].exact is None:
        return None
    names = query.agencies[0], query.ids[0], query.versions[0].exact
    return query.api, {(cls, *names) for cls in query.resource.classes}


@pytest.mark.parametrize("api", list(Api))
def test_every_resource_is_recognized(api: Api) -> None:
    """Each resource without a role, in all forms of its path."""
    for name, row in resources(api).items():
        rest = f"{name}/ECB/X_1/1.0"
        paths = [f"v2/structure/{rest}", f"structure/{rest}"] if api is Api.V2 else [f"v1/{rest}", rest]
        for path in paths:
            assert (named_artefact(path) is None) == (row.role is not None), path


@pytest.mark.thorough
@settings(max_examples=examples(1_000), deadline=None)
@example(["v2", "structure", "codelist", "ECB", "CL_FREQ", "1.0"])
@example(["structure", "codelist", "ECB", "1.0"])
@example(["v1", "structure", "codelist", "ECB", "1.0"])
@example(["codelist", "all", "CL_FREQ", "1.0"])
@given(st.lists(st.sampled_from(_WORDS), max_size=7))
def test_a_recognized_path_means_what_the_parser_finds(words: list[str]) -> None:
    """The path is recognized with the version of the API, classes, agency, id and version that the parser finds."""
    path = "/".join(words)
    found = named_artefact(path)
    if found is not None:
        names = {(urn.cls, urn.agency, urn.id, urn.version) for urn in found.urns}
        assert (found.api, names) == named_by_parser(path)
        assert found.urns == tuple(Urn.of(*name) for name in ((u.cls, u.agency, u.id, u.version) for u in found.urns))


@cache
def registry_in(format_: Format) -> Structures:
    """Return the registry in a format, without the artefacts that the format cannot represent."""
    return known(
        *(artefact for artefact in ARTEFACTS.values() if explain_unwritable(artefact, format_) is None), format_=format_
    )


def paths_of(own: Urn) -> Iterator[str]:
    """Yield the paths that name an artefact, in both versions of the API."""
    for api, head in ((Api.V2, "v2/structure"), (Api.V1, "v1")):
        for name, row in resources(api).items():
            if own.cls in row.classes and row.role is None:
                yield f"{head}/{name}/{own.agency}/{own.id}/{own.version}"


@pytest.mark.parametrize("format_", [Format(one) for one in WRITTEN if one != Format.XLSX])
@pytest.mark.parametrize("accept", ["", "*/*", "application/json", "application/xml", "same"])
def test_the_answer_is_that_of_the_parser(format_: Format, accept: str) -> None:
    """Equal headers and bytes for each artefact, with and without a matching entity tag; none in another format."""
    structures, served = registry_in(format_), 0
    for own in structures:
        for path in paths_of(own):
            request = RestRequest(path, "", str(format_) if accept == "same" else accept)
            found, wanted = unparsed_answer(request, structures), answer(request, structures)
            is_stored = wanted.body == _value(structures, own) and not getattr(structures.get(own), "extensions", ())
            # Without a wish for a format, the first one may be unable to represent the artefact.
            assert found == (wanted if is_stored and accept == "same" else found and wanted), path
            assert is_stored or found is None, path
            served += is_stored
            again = request._replace(if_none_match=dict(wanted.headers)["ETag"])
            assert unparsed_answer(again, structures) == answer(again, structures)
    assert served or accept != "same" or format_ is Format.EDI  # which no stored message is served from


def _value(structures: Structures, own: Urn) -> bytes | None:
    message = structures.stored_message(own)
    return None if message is None else message.data


def test_stored_bytes_are_the_answer() -> None:
    """The answer is the very object that the record holds."""
    structures = known(ARTEFACTS[LIST])
    found = unparsed_answer(RestRequest(PATH, "", JSON_20), structures)
    message = structures.stored_message(LIST)
    assert found is not None
    assert message is not None
    assert found.body is message.data


@pytest.mark.parametrize(
    "request_",
    [
        RestRequest(PATH, "detail=full", JSON_20),
        RestRequest(f"{PATH}/A", "", JSON_20),
        RestRequest(PATH.replace("1.0", "1.0.0"), "", JSON_20),
        RestRequest(PATH.replace("CL_FREQ", "CL_MISSING"), "", JSON_20),
        RestRequest(PATH.replace("1.0", "~"), "", JSON_20),
        RestRequest(PATH, "", "image/png"),
        RestRequest(PATH, "", Format.SDMX_JSON_2_1),
    ],
)
def test_other_requests_need_the_parser(request_: RestRequest) -> None:
    """Parameters, items, rules of versions, missing artefacts and other formats."""
    assert unparsed_answer(request_, known(ARTEFACTS[LIST])) is None


def test_bytes_that_are_not_the_complete_answer_are_not_served() -> None:
    """Compressed messages, other encodings, further artefacts, inherited codes, and unreadable records."""
    plain = write_message(ARTEFACTS[LIST], JSON_20)
    two = write_message([ARTEFACTS[LIST], ARTEFACTS[urn("Codelist BIS:CL_FREQ(1.0)")]], JSON_20)
    for value in (gzip.compress(plain), plain.decode().encode("utf-16"), two, plain[:-9]):
        assert unparsed_answer(RestRequest(PATH, "", JSON_20), stored(LIST, value)) is None
    latin = f"{JSON_20};charset=iso-8859-1"
    assert unparsed_answer(RestRequest(PATH, "", JSON_20), stored(LIST, plain, latin)) is None
    more = ARTEFACTS[urn("Codelist ECB:CL_MORE(1.0.0)")]
    request = RestRequest("v2/structure/codelist/ECB/CL_MORE/1.0.0", "", JSON_20)
    assert unparsed_answer(request, known(ARTEFACTS[LIST], more)) is None
    assert unparsed_answer(RestRequest(PATH, "", JSON_20), known(ARTEFACTS[LIST], more)) is not None


def test_an_artefact_of_several_messages_needs_the_parser() -> None:
    """Another message with an artefact of this name may add one of another class or version."""
    other = urn("Dataflow ECB:EXR(1.0)")
    records = {
        bytes(LIST): record(bytes(LIST), write_message(ARTEFACTS[LIST], JSON_20)),
        bytes(other): record(bytes(other), write_message([ARTEFACTS[other], ARTEFACTS[LIST]], JSON_20)),
    }
    structures = Structures(FakeSnapshot(records))
    structures.unreadable_records()
    assert unparsed_answer(RestRequest(PATH, "", JSON_20), structures) is None


def test_nothing_is_known_before_the_references_are() -> None:
    """A new version has stored answers as soon as it has followed the references of the previous one."""
    request = RestRequest(PATH, "", JSON_20)
    first = version_of([ARTEFACTS[LIST]], JSON_20)
    assert unparsed_answer(request, first) is None
    first.follow_references()
    assert (first.has_pending_references, unparsed_answer(request, first)) == (False, None)
    first.unreadable_records()
    changed = write_message(ARTEFACTS[LIST], JSON_20).replace(b"{", b"{ ")
    second = first.moved_to(FakeSnapshot({bytes(LIST): record(bytes(LIST), changed)}, 8), [bytes(LIST)])
    assert (second.has_pending_references, unparsed_answer(request, second)) == (True, None)
    second.follow_references()
    found = unparsed_answer(request, second)
    assert found is not None
    assert (second.has_pending_references, found.body) == (False, changed)
    third = second.moved_to(FakeSnapshot({}, 9), [bytes(LIST)])
    third.follow_references()
    assert unparsed_answer(request, third) is None


@pytest.mark.thorough
def test_the_service_answers_without_the_parser_in_each_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first request of a version is parsed; the others are answered from that version, too."""
    requested_paths: list[str] = []
    parsed = DefaultAnswer.__call__

    def noted(self: DefaultAnswer, request: RestRequest, structures: Structures) -> RestAnswer:
        requested_paths.append(request.path)
        return parsed(self, request, structures)

    monkeypatch.setattr(DefaultAnswer, "__call__", noted)
    topic = FakeTopic()
    names = ["A", *(f"L{number}" for number in range(200))]
    for name in names:
        topic.put(URN.format(name), _list(name, "first"))
    with topic.replica() as replica:
        replica.wait_ready(30)
        client = client_of(create_app(replica))

        def get(name: str) -> bytes:
            found = client.get(f"/sdmx/v2/structure/codelist/SDMX/CL_{name}/1.0", headers={"Accept": JSON_20})
            assert found.headers["kafka-replica-version"].startswith(f"{replica.snapshot().version}.")
            return found.content

        client.get("/sdmx/v2/structure/codelist/SDMX/CL_A/1.0?references=parents")
        assert [get(name) for name in ("A", "L0")] == [_list("A", "first"), _list("L0", "first")]
        assert len(requested_paths) == 1
        replica.wait_for(topic.put(URN.format("A"), _list("A", "second")), 30)
        for name in names[1:]:  # a thread finds out meanwhile what has changed
            del requested_paths[:]
            assert get(name) == _list(name, "first")
            if not requested_paths:
                break
            time.sleep(0.02)
        assert get("A") == _list("A", "second")
        assert requested_paths == []


def _list(name: str, text: str) -> bytes:
    return (
        f'{{ "data": {{"codelists": [{{"id": "CL_{name}", "agencyID": "SDMX", "version": "1.0", "name": "{text}", '
        f'"codes": [{{"id": "C", "name": "y"}}]}}]}}}}'
    ).encode()
