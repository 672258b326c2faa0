"""The examples in docs/postgres-source.md run as they are written there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from kafka_replica.embedded import LocalKafka
from kafka_replica.producer.postgres import TableSourceSettings
from kafka_replica.producer.postgres.settings import read_source_settings
from support.doc_blocks import programs
from support.paths import ROOT
from support.producer.postgres_tools import LocalPostgres
from support.producer.table_tools import committed_values, last_values, open_connection
from support.waiting import wait_until

PAGE = (ROOT / "docs/postgres-source.md").read_text()
TABLE = """
    CREATE TABLE terminal_acquirer (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        terminal_id text NOT NULL,
        acquirer_id text NOT NULL,
        is_active boolean NOT NULL DEFAULT true,
        updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX ON terminal_acquirer (terminal_id) WHERE is_active;
    INSERT INTO terminal_acquirer (terminal_id, acquirer_id) VALUES ('T1', 'A7'), ('T2', 'A7')
"""


@pytest.mark.long
@pytest.mark.runs("docs/postgres-source.md", without="pip install")
def test_the_examples_run(
    local_kafka: LocalKafka,
    postgres: LocalPostgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The commands copy the table and find a deleted row; the service and the source in Python run."""
    name, topic = f"payments_{uuid.uuid4().hex[:12]}", f"terminals-{uuid.uuid4().hex[:8]}"
    url, bootstrap = postgres.url(name), local_kafka.bootstrap_servers
    with open_connection(url) as connection:
        connection.execute(TABLE)

        def here(text: str) -> str:
            there = f"app:${{DB_PASSWORD}}@127.0.0.1:{postgres.port}/{name}"
            text = text.replace("source:${DB_PASSWORD}@localhost:5432/payments", there)
            return text.replace('"terminals"', f'"{topic}"').replace("localhost:9092", bootstrap)

        (tmp_path / "source.toml").write_text(here(*programs("docs/postgres-source.md", language="toml")))
        monkeypatch.setenv("DB_PASSWORD", postgres.password)
        monkeypatch.chdir(tmp_path)
        lines = "".join(programs("docs/postgres-source.md", containing="kafka-replica source")).splitlines()
        run, dry_run, compare = (_words(line) for line in lines)
        running = subprocess.Popen([*run, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: _has(bootstrap, topic, {"T1", "T2"}), "the table is copied")
            service, source = programs("docs/postgres-source.md", language="python")
            exec(here(service), {})
            assert capsys.readouterr().out == "A7\n"
            connection.execute("DELETE FROM terminal_acquirer WHERE terminal_id = 'T2'")
            assert _output(dry_run) == "0 records to write, 1 key to delete; nothing was written\n"
            assert "another instance copies this table" in _output(compare)
            wait_until(lambda: _has(bootstrap, topic, {"T1"}), "the running instance has compared")
        finally:
            running.send_signal(signal.SIGTERM)
            output, errors = running.communicate(timeout=60)
        assert (running.returncode, errors) == (128 + signal.SIGTERM, "")
        events = [json.loads(each) for each in output.splitlines()]
        assert [each["event"] for each in events] == [
            "takeover",
            "acknowledgement",
            "acknowledgement",
            "table_comparison",
        ]
        connection.execute("DELETE FROM terminal_acquirer")
        with pytest.raises(AssertionError, match="allow_empty"):
            _output(compare)
        connection.execute("INSERT INTO terminal_acquirer (terminal_id, acquirer_id) VALUES ('T3', 'A7')")
        assert _output(compare) == "1 record to write, 1 key to delete; all differences were written\n"
        exec(source.replace("...", "import time; time.sleep(1)"), {})
        assert postgres.password not in output + capsys.readouterr().out
    assert set(last_values(committed_values(bootstrap, topic))) == {"T3"}


def _words(line: str) -> list[str]:
    return [str(Path(sys.executable).with_name("kafka-replica")), *line.split()[1:]]


def _output(words: list[str]) -> str:
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _has(bootstrap: str, topic: str, keys: set[str]) -> bool:
    known = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).topics
    return topic in known and set(last_values(committed_values(bootstrap, topic))) == keys


def test_the_page_names_every_setting() -> None:
    """The table of settings has exactly the settings that exist."""
    cells = re.findall(r"^\| (`[^|]*)\|", PAGE.partition("## Settings")[2].partition("## Values")[0], re.MULTILINE)
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    fields: dict[str, Any] = TableSourceSettings.__dataclass_fields__
    assert sorted(named) == sorted(set(fields) - {"kafka"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[source]\ntable = 'a'\n[kafka]\nretries = 1", "database, key_column, topic is missing"),
        ("[source]\ntabel = 'a'", "unknown tabel; did you mean 'table'"),
        ("[producer]\ntopic = 'a'", "unknown table producer"),
        (
            "[source]\ndatabase='d'\ntable='t'\ntopic='a,b'\nkey_column='k'\n[kafka]\nretries=1",
            "needs exactly one topic",
        ),
        (
            "[source]\ndatabase='d'\ntable='t'\ntopic='a'\nkey_column='k'\nnumeric='x'\n[kafka]\nretries=1",
            "numeric is one of",
        ),
        ("[source]\ndatabase='d'\ntable='t'\ntopic='a'\nkey_column='k'\npoll_s=0\n[kafka]\nretries=1", "more than 0"),
        ("[source]\n[kafka]\nbootstrap_servers='a:1'", "did you mean 'bootstrap.servers'"),
        ("source.topic=a", "is not TOML"),
    ],
)
def test_a_wrong_file_is_explained(text: str, says: str, tmp_path: Path) -> None:
    """A wrong file is reported before anything is connected."""
    file = tmp_path / "source.conf"
    file.write_text(text)
    with pytest.raises(Exception, match=says):
        read_source_settings(file)
