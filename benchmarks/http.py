"""The experiment on the HTTP service: a registry of the Euro area's size, against a bare ASGI response."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import registry
from benchmarks.http_client import Connection, answered, in_turn_ms, wait_ready
from benchmarks.processor_time import cpu_s
from benchmarks.programs.common import percentile
from benchmarks.stage import Stage
from kafka_replica.sdmx import Urn

_TIMES = 3000
_WARM = 300
_REFERENCES = 400
_CONNECTIONS, _LASTS_S = 4, 3.0
_COUNTED = b"\nkafka_replica_sdmx_dangling_references{"
_topics: dict[str, str] = {}


class Service(NamedTuple):
    """A server that runs: its address, and its process, whose children are its workers."""

    address: str
    pid: int


def http(stage: Stage) -> dict[str, float]:
    """Measure answers of the service and of a bare ASGI app, which take turns; ready; references; throughput."""
    topic = _topics.get(stage.bootstrap) or _topics.setdefault(stage.bootstrap, stage.new_topic("registry"))
    if stage.is_first("registry"):
        registry.fill(stage.bootstrap, topic)
    began_s = time.perf_counter()
    with _server(stage, "service", stage.bootstrap, topic, "1") as service:
        wait_ready(service.address)
        figures = {"http.ready_s": time.perf_counter() - began_s}
        _warm(service.address)
        figures["http.warm_s"] = time.perf_counter() - began_s
        _wait_prepared(service.address)
        figures |= _compared(stage, service.address) | _references(service.address)
        figures |= _under_load(service, "")
    with _server(stage, "service", stage.bootstrap, topic, "2") as service:
        wait_ready(service.address)
        for _ in range(_CONNECTIONS * 3):  # each worker accepts some of the connections
            _warm(service.address)
        figures |= _under_load(service, "_of_two")
    figures["http.workers"] = figures["http.requests_of_two"] / figures["http.requests"]
    stage.noted({"what": "http", **figures})
    return figures


def _compared(stage: Stage, address: str) -> dict[str, float]:
    """Return the times of codelists of one size, each relative to those of the bare apps, which send the same bytes."""
    served, accept = Connection(address), str(registry.STORED)
    same_size = [_codelist(number) for number in range(registry.CODELISTS - 1, 0, -5)]
    one, *others = [served.request(path, Accept=accept) for path in same_size]
    answer = served.get(one)
    current = served.request(same_size[0], Accept=accept, If_None_Match=answer.header("etag"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "body").write_bytes(answer.body)
        for status, found in ((200, answer), (304, served.get(current, 304))):
            Path(folder, str(status)).write_bytes(found.headers)
        with (
            _server(stage, "bare", folder, "httptools") as by_httptools,
            _server(stage, "bare", folder, "h11") as by_h11,
        ):
            bare = [Connection(by_httptools.address), Connection(by_h11.address)]
            for number in range(registry.CODELISTS - 2, 0, -5)[:_WARM]:  # others, once: all processes are warm then
                served.get(served.request(_codelist(number), Accept=accept))
                for connection in bare:
                    connection.get(one)

            def took_ms(requests: list[bytes], times: int, status: int = 200) -> list[list[float]]:
                in_turn = [(connection, requests[:1]) for connection in bare]
                return in_turn_ms([(served, requests), *in_turn], times, status)

            # The cache of answers holds none of the others yet: each is asked for once.
            took = {
                "first": took_ms(others, len(others)),
                "unparsed": took_ms([one], _TIMES),
                "304": took_ms([current], _TIMES, 304),
            }
    figures = {"http.unparsed_ms": percentile(took["unparsed"][0], 0.99)}
    for name, (own, *bare_ms) in took.items():
        for parser, of_bare in zip(("", ".h11"), bare_ms, strict=True):
            figures[f"http.{name}{parser}"] = percentile(own, 0.99) / percentile(of_bare, 0.99)
            figures[f"http.{name}{parser}.p50"] = percentile(own, 0.5) / percentile(of_bare, 0.5)
    return figures


def _under_load(service: Service, which: str) -> dict[str, float]:
    """Return the requests per second, and the processor time per request of the service and of the client."""
    before_s = cpu_s(service.pid)
    load = answered(service.address, _codelist(1), _CONNECTIONS, _LASTS_S)
    return {
        f"http.requests{which}": load.requests / load.seconds,
        f"http.cpu_ms{which}": (cpu_s(service.pid) - before_s) / load.requests * 1e3,
        f"http.client_cpu_ms{which}": load.client_cpu_s / load.requests * 1e3,
    }


def _references(address: str) -> dict[str, float]:
    """Return the times of ``references=all`` of distinct dataflows, and of those again."""
    connection = Connection(address)
    step = registry.DATAFLOWS // (_REFERENCES + _WARM)
    targets = [
        connection.request(f"/sdmx/v2{_path('dataflow', registry.dataflow(number * step))}?references=all")
        for number in range(_REFERENCES + _WARM)
    ]
    for target in targets[_REFERENCES:]:
        connection.get(target)
    first = [connection.time_ms(target) for target in targets[:_REFERENCES]]
    again = [connection.time_ms(target) for target in targets[_REFERENCES - 100 : _REFERENCES] for _ in range(10)]
    return {
        "http.references_ms": percentile(first, 0.99),
        "http.references_p50_ms": percentile(first, 0.5),
        "http.references_again_ms": percentile(again, 0.99),
    }


def _warm(address: str) -> None:
    """Wait until the service has decoded the structures: a query for parents needs those of all."""
    connection = Connection(address)
    connection.get(connection.request(f"{_codelist(0)}?references=parents&detail=allstubs"))


def _wait_prepared(address: str, every_s: float = 0.1) -> None:
    """Wait until the service has also counted the references that lead nowhere, for which it needs a processor."""
    connection = Connection(address)
    while _COUNTED not in connection.get(connection.request("/metrics")).body:
        time.sleep(every_s)


def _codelist(number: int) -> str:
    return f"/sdmx/v2{_path('codelist', registry.codelist(number))}"


def _path(resource: str, urn: Urn) -> str:
    return f"/structure/{resource}/{urn.agency}/{urn.id}/{urn.version}"


@contextmanager
def _server(stage: Stage, *arguments: str) -> Iterator[Service]:
    """Run a server."""
    process: subprocess.Popen[str] = stage.start("http_server", *arguments)
    assert process.stdout is not None
    try:
        yield Service(json.loads(process.stdout.readline())["address"], process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=60)
