"""The doctor's findings on the addresses that brokers name, without a broker."""

from __future__ import annotations

import socket

import pytest

from kafka_replica.doctor import Severity
from kafka_replica.doctor.examination import _brokers


@pytest.mark.parametrize("host", ["a..b", f"{'x' * 64}.example", "127.0.0.1"])
def test_an_address_that_cannot_be_used_is_a_fault(host: str) -> None:
    """A host with an impossible name is a wrong setting of the broker, like any other address without a server."""
    with socket.socket() as bound:  # it does not listen
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        (finding,) = _brokers({7: (host, port)}, 5.0)
    assert finding.severity is Severity.FAULT
    assert finding.check == f"broker 7 at {host}:{port}"
    assert finding.message.startswith("cannot be reached from here (")
    assert "advertised.listeners" in (finding.advice or "")
