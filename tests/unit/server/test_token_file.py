"""The file of tokens while the service runs: added, revoked, replaced, damaged and repaired."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.errors import ConfigurationError
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.access import token_file
from kafka_replica.server.access.policy import Token, read_tokens
from kafka_replica.server.access.token_file import TokenFile
from kafka_replica.testing import FakeTopic
from support.core.rocks_tools import new_folder
from support.effort import examples
from support.server.app_tools import client_of, stand_in
from support.waiting import wait_until


def written(file: Path, *tokens: str) -> None:
    """Replace a file at once, as editors and secret stores do."""
    new = file.with_suffix(".new")
    new.write_text("".join(f"read {hashlib.sha256(token.encode()).hexdigest()} {token}\n" for token in tokens))
    new.replace(file)


@pytest.mark.thorough
def test_tokens_are_added_and_revoked_without_a_restart(tmp_path: Path) -> None:
    """Over HTTP: a new token is accepted, and a revoked one refused, soon after the file has changed."""
    file, topic = tmp_path / "tokens", FakeTopic()
    written(file, "old")
    topic.put("a", b"value")
    with topic.replica() as replica:
        replica.wait_ready(30)
        client = client_of(create_app(replica, ServerSettings(tokens_file=file), answer=stand_in))

        def status(token: str) -> int:
            return client.get("/sdmx/v2/a", headers={"Authorization": f"Bearer {token}"}).status_code

        assert (status("old"), status("new")) == (200, 401)
        written(file, "new")
        wait_until(lambda: status("new") == 200)
        assert status("old") == 401


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.none() | st.just(()) | st.sets(st.sampled_from("abc"), min_size=1), max_size=8))
def test_the_tokens_are_those_of_the_last_usable_file(steps: list[set[str] | tuple[()] | None]) -> None:
    """Any sequence of files: missing, without tokens, or usable; a second later the last usable one is valid."""
    with new_folder() as folder:
        folder.mkdir(exist_ok=True)
        file, now_s, valid = folder / "tokens", 0.0, {"first"}
        written(file, "first")
        tokens = TokenFile(file, lambda: now_s)
        for step in steps:
            if step is None:
                file.unlink(missing_ok=True)
            else:
                written(file, *step)
            now_s += 0.5
            assert {token.holder for token in tokens.current()} == valid  # it is not looked at for each request
            now_s += 0.5
            valid = {*step} if step else valid
            assert {token.holder for token in tokens.current()} == valid


def test_an_unusable_file_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log has one error for one change, however many requests there are."""
    file, now_s = tmp_path / "tokens", 0.0
    written(file, "first")
    tokens = TokenFile(file, lambda: now_s)
    file.write_text("read secret\n")
    with caplog.at_level(logging.INFO, "kafka_replica.server"):
        for _ in range(5):
            now_s += 2
            tokens.current()
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert "line 1" in record.getMessage()


def test_a_file_is_read_until_this_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A token that was revoked while the file could not be read is refused afterwards; the reason is logged once."""
    file, now_s, may_read = tmp_path / "tokens", 0.0, False

    def read(path: Path) -> tuple[Token, ...]:
        if not may_read:
            raise ConfigurationError(f"reading the tokens in {path}: Too many open files")
        return read_tokens(path)

    written(file, "good", "leaked")
    tokens = TokenFile(file, lambda: now_s)
    monkeypatch.setattr(token_file, "read_tokens", read)
    for _ in range(2):  # a later failure for the same reason is reported again
        written(file, "good")
        with caplog.at_level(logging.ERROR, "kafka_replica.server"):
            for succeeds in (False, False, True):
                may_read, now_s = succeeds, now_s + 1
                tokens.current()
    assert [token.holder for token in tokens.current()] == ["good"]
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


def test_a_file_of_the_same_time_and_size_is_read_again(tmp_path: Path) -> None:
    """Programs that copy files may keep the time of the last change, but not the time at which they did so."""
    file, now_s = tmp_path / "tokens", 0.0
    written(file, "a")
    tokens, before = TokenFile(file, lambda: now_s), file.stat()
    new = file.read_text().replace("a\n", "b\n")
    wait_until(lambda: bool(file.write_text(new)) and file.stat().st_ctime_ns != before.st_ctime_ns)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    now_s += 1
    assert [token.holder for token in tokens.current()] == ["b"]
