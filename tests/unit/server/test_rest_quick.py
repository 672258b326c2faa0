"""Requests for one small artefact by its full name are answered without a thread, all others in one."""

from __future__ import annotations

import gzip
from concurrent.futures import Future
from typing import Any

import pytest
from starlette.testclient import TestClient

from kafka_replica.sdmx import Structures
from kafka_replica.server import create_app
from kafka_replica.server.answers.threads import DaemonThreads
from kafka_replica.server.rest import RestAnswer, RestRequest, is_quick
from kafka_replica.testing import FakeTopic
from support.server.app_tools import URN, client_of, stand_in

SIZES = {URN.format("A"): 2_000, URN.format("LONG"): 200_000}
QUICK = "structure/codelist/SDMX/CL_A/1.0"


@pytest.mark.parametrize("path", [QUICK, "v2/" + QUICK, "v1/codelist/SDMX/CL_A/1.0"])
@pytest.mark.parametrize("items", ["", "/*", "/all", "/all/"])
@pytest.mark.parametrize("query", ["", "detail=full", "format=sdmx-json", "references=none"])
def test_one_small_artefact_is_quick(path: str, items: str, query: str) -> None:
    """In both versions of the API, in any format and detail, also with the keyword for all items."""
    assert is_quick(RestRequest(path + items, query), SIZES.get)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("structure/codelist/SDMX/CL_LONG/1.0", ""),
        ("structure/codelist/SDMX/CL_MISSING/1.0", ""),
        ("structure/codelist/SDMX/CL_A/*", ""),
        ("structure/codelist/SDMX/CL_A/+", ""),
        ("structure/codelist/SDMX/CL_A,CL_LONG/1.0", ""),
        ("structure/codelist/*/CL_A/1.0", ""),
        ("structure/*/SDMX/*/1.0", ""),
        ("structure/codelist/SDMX/CL_A/1.0/X", ""),
        ("structure/codelist/SDMX/CL_A/1.0/X,all", ""),
        (QUICK, "_=" + "1" * 300),
        (QUICK, "references=all"),
        (QUICK, "asOf=2020-01-01"),
        (QUICK, "detail=nonsense"),
        ("schema/dataflow/SDMX/CL_A/1.0", ""),
        ("nonsense", ""),
    ],
)
def test_everything_else_takes_a_thread(path: str, query: str) -> None:
    """A request that may take long, or is not a query, is not quick."""
    assert not is_quick(RestRequest(path, query), SIZES.get)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("id_", "own", "base", "threads"),
    [
        ("A", False, "", 0), ("LONG", False, "", 1), ("A", True, "", 1), ("PACKED", False, "", 1),
        ("EXTENDS", False, "", 1), ("A", False, "/version/1", 1), ("MISSING", False, "", 1),
    ],
)  # fmt: skip
def test_only_quick_requests_do_without_a_thread(
    id_: str, own: bool, base: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small artefact is answered at once.

    Unless a function of the caller computes the answers, an earlier version is in the path, or the message is
    compressed or extends other codelists. The first request for a version updates the indexes, in a thread.
    """
    submitted: list[Any] = []
    submit = DaemonThreads.submit

    def counting(self: DaemonThreads, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        submitted.append(fn)
        return submit(self, fn, *args, **kwargs)

    def answer(request: RestRequest, structures: Structures) -> RestAnswer:
        return stand_in(request, structures)

    def threads_for(client: TestClient, address: str) -> int:
        submitted.clear()
        assert client.get(address).status_code == (404 if id_ == "MISSING" and not own else 200)
        return len(submitted)

    monkeypatch.setattr(DaemonThreads, "submit", counting)
    topic = filled_topic()
    with topic.replica(kept_versions=5) as replica:
        replica.wait_ready(30)
        app = create_app(replica, answer=answer if own else None)
        client = client_of(app)
        address = f"{base}/sdmx/v2/structure/codelist/SDMX/CL_{id_}/1.0?format=sdmx-2.1"
        assert threads_for(client, f"{address}&references=none") == 1  # nothing is indexed yet
        assert client.get("/sdmx/v2/structure/codelist/SDMX/CL_A/1.0?references=all").status_code == 200
        replica.wait_for(topic.put(URN.format("LATER"), b"x"), 30)
        # The indexes are still those of the earlier version, which a path may name.
        assert bool(threads_for(client, f"{address}&prettyPrint=true")) == (not base)
        assert client.get("/sdmx/v2/structure/codelist/SDMX/CL_A/1.0?references=all").status_code == 200
        assert threads_for(client, address) == threads


def filled_topic() -> FakeTopic:
    """Return a topic with codelists: small, long, compressed, and with extensions."""
    topic = FakeTopic()
    for one, size in {**SIZES, URN.format("PACKED"): 2_000, URN.format("EXTENDS"): 2_000}.items():
        codes = ",".join(f'{{"id": "C{number:06}", "name": "x"}}' for number in range(size // 40))
        list_ = one.partition(":CL_")[2].partition("(")[0]
        extensions = '"codelistExtensions": [],' if list_ == "EXTENDS" else ""
        message = (
            f'{{"data": {{"codelists": [{{"id": "CL_{list_}", "agencyID": "SDMX", "version": "1.0", "name": "x", '
            f'{extensions} "codes": [{codes}]}}]}}}}'
        ).encode()
        topic.put(one, gzip.compress(message) if list_ == "PACKED" else message)
    return topic
