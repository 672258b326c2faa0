"""The real server over a topic, for clients of other projects, which bring their own HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from kafka_replica.testing import FakeTopic
from support import plain_http
from support.server.server_tools import running


class RestService(NamedTuple):
    """A server: its address, without a path."""

    address: str

    def statuses(self) -> set[str]:
        """Return the statuses of all answers of the SDMX REST API so far, as the server counts them."""
        text = plain_http.get(f"{self.address}/metrics").text
        return {
            sample.labels["status"]
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "kafka_replica_http_requests_total" and sample.labels["route"] == "sdmx"
        }


@contextmanager
def rest_service(topic: FakeTopic) -> Iterator[RestService]:
    """Serve the structures of a topic."""
    with topic.replica() as replica:
        replica.wait_ready(60)
        with running(replica, answer=None) as (address, _):
            yield RestService(address)
