"""The choice of requests that a worker forwards to the main process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_replica.server.routes.forwarding import ForwardingMiddleware


@pytest.mark.parametrize(
    ("method", "path", "query", "is_forwarded"),
    [
        ("GET", "/sdmx/v2/structure/codelist", b"asOf=2026-01-01", True),
        ("HEAD", "/sdmx/v2/structure/codelist", b"%61sof=1", True),
        ("GET", "/sdmx/v2/structure/codelist", b"", False),
        ("GET", "/history", b"", True),
        ("GET", "/version/3/diff/1/2", b"", True),
        ("GET", "/version/3/sdmx/v2/structure/codelist", b"", False),
        ("GET", "/changes", b"asOf=1", False),
        ("POST", "/validate", b"structure=X&asOf=1", False),
        ("POST", "/producers/x/suspend", b"asOf=1", False),
        ("GET", "/metrics", b"", True),
    ],
)
def test_only_queries_of_the_past_are_forwarded(method: str, path: str, query: bytes, is_forwarded: bool) -> None:
    """A stream of changes, an upload and a command stay in the worker, whatever their parameters are."""
    role: Any = SimpleNamespace(has_history=True)
    replica: Any = SimpleNamespace(incarnation="x", at=lambda _: None)
    app: Any = None
    middleware = ForwardingMiddleware(app, role, replica, [])
    scope = {"type": "http", "method": method, "path": path, "query_string": query}
    assert middleware._is_for_main(scope) is is_forwarded
