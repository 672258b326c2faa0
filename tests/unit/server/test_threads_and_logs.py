"""The pool of daemon threads, and the access log."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.answers.threads import DaemonThreads
from kafka_replica.server.operation.access_log import ACCESS_LOGGER, JsonAccess
from kafka_replica.testing import FakeTopic
from support.server.app_tools import client_of, stand_in


def test_results_and_errors_come_back() -> None:
    """Work is spread over the threads; results and errors reach whoever waits."""
    pool = DaemonThreads(3, "test")
    both = threading.Barrier(3)
    assert [future.result(30) for future in [pool.submit(both.wait, 30) for _ in range(3)]] != []
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result(30)
    assert pool.submit(pow, 2, 3).result(30) == 8
    pool.shutdown()
    with pytest.raises(RuntimeError):
        pool.submit(pow, 2, 3)
    pool.shutdown()


def test_shutdown_cancels_waiting_work_without_waiting() -> None:
    """The running work ends by itself in a daemon thread; work behind it never begins."""
    pool, began, release = DaemonThreads(1, "test"), threading.Event(), threading.Event()

    def work() -> bool:
        began.set()
        assert threading.current_thread().daemon
        return release.wait(30)

    running, waiting = pool.submit(work), pool.submit(pow, 2, 3)
    assert began.wait(30)
    pool.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(CancelledError):
        waiting.result(30)
    release.set()
    assert running.result(30)


def test_the_access_log_has_a_line_for_each_request_and_no_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The text and the JSON form have client, method, target as sent, status, bytes, seconds and id, and no header."""
    file = tmp_path / "tokens"
    file.write_text("read 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n")
    topic = FakeTopic()
    topic.put("a", b"value")
    with topic.replica() as replica, caplog.at_level(logging.INFO, ACCESS_LOGGER):
        replica.wait_ready(30)
        client = client_of(create_app(replica, ServerSettings(tokens_file=file), answer=stand_in))
        found = client.get("/sdmx/v2/a%20b?x=%22", headers={"Authorization": "Bearer test", "X-Request-ID": "id-1"})
        client.get("/changes", headers={"Authorization": "Bearer secret"})
    first, second = (record for record in caplog.records if record.name == ACCESS_LOGGER)
    text = first.getMessage()
    assert text.startswith(f'testclient "GET /sdmx/v2/a%20b?x=%22" 200 {len(found.content)} 0.')
    assert text.endswith(" id-1")
    line = json.loads(JsonAccess().format(first))
    assert (line["client"], line["method"], line["target"]) == ("testclient", "GET", "/sdmx/v2/a%20b?x=%22")
    assert (line["status"], line["bytes_sent"], line["request_id"]) == (200, len(found.content), "id-1")
    assert json.loads(JsonAccess().format(second))["status"] == 401
    assert "secret" not in caplog.text
    assert "Bearer" not in caplog.text
