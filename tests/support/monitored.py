"""A service and a producer on a real broker, which a real Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import httpx
import msgspec
from prometheus_client import CollectorRegistry, start_http_server

from kafka_replica.metrics.producer import export_producer
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.sdmx import Format, InternationalString, explain_unwritable, write_message
from support import plain_http
from support.producer.producer_tools import settings_of
from support.prometheus import prometheus
from support.server.registry import ARTEFACTS
from support.server.server_tools import ServerProcess, until_ready

_FORMAT: Final = Format.SDMX_JSON_2_0
_CODELIST: Final = "/sdmx/v2/structure/codelist/ECB/CL_FREQ/1.0"
CONFIG: Final = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}
"""The configuration of the topic."""


class Monitored(NamedTuple):
    """A producer and a service that are monitored, and a client of Prometheus."""

    producer: StructureProducer
    service: ServerProcess
    prometheus: httpx.Client

    def use(self, number: int) -> None:
        """Change a structure, all of them the first time, and request one."""
        known = [one for one in ARTEFACTS.values() if explain_unwritable(one, _FORMAT) is None]
        changed = known if number == 0 else [known[number % len(known)]]
        names = InternationalString({"en": f"Name {number}"})
        with self.producer.engine.begin() as connection:
            written = [write_message(msgspec.structs.replace(one, names=names), _FORMAT) for one in changed]
            puts = [Put(str(one.urn), value) for one, value in zip(changed, written, strict=True)]
            self.producer.record(connection, puts)
        for path in ("/health/live", _CODELIST):
            try:
                plain_http.get(self.service.address + path)
            except httpx.TransportError as error:
                service = self.service
                error.add_note(f"{path}: exit status {service.process.poll()}, {service.log.read_text()[-3000:]}")
                raise


@contextmanager
def monitored(bootstrap: str, topic: str, folder: Path) -> Iterator[Monitored]:
    """Run a service, a producer and Prometheus for a topic."""
    settings = settings_of(bootstrap, topic, f"sqlite:///{folder / 'o.db'}")
    registry = CollectorRegistry()
    arguments = ("--bootstrap-server", bootstrap, "--topic", topic)
    with StructureProducer(settings) as producer, ServerProcess(folder, *arguments) as service:
        export_producer(producer, registry=registry)
        server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
        until_ready(service)
        try:
            with prometheus(folder, service.address, f"http://127.0.0.1:{server.server_port}") as client:
                yield Monitored(producer, service, client)
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
