"""Each error, alert, rule, state and exit status has an explanation, and the pages show the same texts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka import KafkaError

from kafka_replica.broker.errors import codes_of_kafka, translate_error
from kafka_replica.cli.advice import ADVICE, EXIT_STATUSES, STATES
from kafka_replica.cli.commands.explain import explanation, meaning_of_error
from kafka_replica.cli.groups import kafka_replica
from kafka_replica.data.mapping.catalogue import MAP_RULES
from kafka_replica.data.validation.catalogue import CATALOGUE
from kafka_replica.errors import KafkaReplicaError, UsageError
from kafka_replica.metrics.alerts import ALERTS
from kafka_replica.publication.status import State
from support.paths import ROOT


def public_errors() -> set[str]:
    """Return the errors that the modules called errors define."""
    found = set()
    for path in (ROOT / "kafka_replica").glob("**/errors.py"):
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        found |= {
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, KafkaReplicaError) and not name.startswith("_")
        }
    return found


def table(page: str, mark: str) -> str:
    """Return the text between two marks of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split(f"<!-- {mark} -->\n")[1].split(f"\n<!-- /{mark} -->")[0]


def test_every_error_has_advice_and_none_is_left_over() -> None:
    """The table of advice names exactly the errors that the packages define."""
    assert set(ADVICE) == public_errors()


def test_the_page_of_errors_has_the_declared_texts() -> None:
    """The table of docs/errors.md is made from the docstrings and the advice."""
    rows = [
        f"| `{name}` | `{value.package}` | {meaning_of_error(name)} | {value.action} |"
        for name, value in ADVICE.items()
    ]
    assert table("errors.md", "errors").splitlines()[2:] == rows


def test_the_page_of_commands_has_the_declared_exit_statuses() -> None:
    """The table of exit statuses in docs/commands.md is the declaration's."""
    rows = [f"| {status} | {text.replace('|', chr(92) + '|')} |" for status, text in EXIT_STATUSES.items()]
    assert table("commands.md", "exit statuses").splitlines()[2:] == rows


def test_the_page_of_guarantees_has_each_state() -> None:
    """The table of states in docs/guarantees.md is the declaration's, which has all states."""
    assert list(STATES) == list(State)
    rows = [
        f"| `{state}` | {each.meaning} | {each.ready} | {each.readers} | {each.end} |" for state, each in STATES.items()
    ]
    assert table("guarantees.md", "states").splitlines()[2:] == rows


_ALERTS = [alert.name for alert in ALERTS]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "code", [*ADVICE, *CATALOGUE, *MAP_RULES, *_ALERTS, *STATES, *re.findall(r"\d+", " ".join(EXIT_STATUSES))]
)
def test_every_code_is_explained(code: str) -> None:
    """The explanation names the code and has a text of its own."""
    facts = explanation(code)
    assert any(code in text for text in facts.values())
    assert all(facts.values())


def test_an_unknown_code_is_refused_with_similar_ones() -> None:
    """A misspelt code is answered with the closest code."""
    with pytest.raises(UsageError, match="code-unknown"):
        explanation("code-unknwon")


def test_a_state_is_found_as_the_metric_names_it() -> None:
    """The label of the metric has an underscore where the state has a space."""
    assert explanation("catching_up") == explanation("catching up")


@pytest.mark.parametrize("code", ["storedamagederror", "CODE-UNKNOWN", "kafkareplicablocked", "Catching_Up"])
def test_upper_and_lower_case_are_equal(code: str) -> None:
    """The explanation names the code as it is written in messages."""
    found = explanation(code)
    assert code.lower().replace("_", " ") in " ".join(found.values()).lower()


@pytest.mark.thorough
def test_codes_of_kafka_are_explained_as_messages_report_them() -> None:
    """The exception and the advice are those of the message in which Kafka's code stands."""
    for code, error in {
        KafkaError.UNKNOWN_TOPIC_OR_PART: "TopicNotFoundError",
        KafkaError.TOPIC_AUTHORIZATION_FAILED: "AuthorizationError",
        KafkaError._TRANSPORT: "BrokerUnavailableError",
        KafkaError.MSG_SIZE_TOO_LARGE: "BrokerError",
    }.items():
        message = translate_error(KafkaError(code), "reading")
        name = re.findall(r"Kafka reports (\w+)", str(message))[0]
        facts = explanation(name.lower())
        assert facts["error code of Kafka"] == name
        assert facts["reported as"].endswith(f".{error}")
        assert type(message).__name__ == error
        assert str(message) == f"reading: Kafka reports {name}: {facts['meaning']}; {facts['what to do']}"
    assert all(explanation(name) for name in codes_of_kafka())


def test_the_advice_for_a_missing_topic_names_a_command_that_creates_it() -> None:
    """The message names a command that creates the topic."""
    message = str(translate_error(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART), "reading"))
    assert "kafka-replica publish --create-topic" in message


def test_the_command_prints_text_or_json() -> None:
    """Text and JSON of a code have the same facts; without a code all codes are listed."""
    text = CliRunner().invoke(kafka_replica, ["explain", "StoreInUseError"]).output
    facts = json.loads(CliRunner().invoke(kafka_replica, ["explain", "StoreInUseError", "--json"]).output)
    assert text == "".join(f"{name}: {value}\n" for name, value in facts.items())
    listed = CliRunner().invoke(kafka_replica, ["explain"]).output
    assert all(code in listed for code in (*ADVICE, *CATALOGUE, *MAP_RULES, *_ALERTS, *STATES))


@pytest.mark.thorough
def test_the_program_knows_the_command() -> None:
    """A wrong code ends the program with status 2."""
    command = Path(sys.executable).with_name("kafka-replica")
    done = subprocess.run([command, "explain", "nothing"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "there is no code" in done.stderr


def test_the_advice_for_a_damaged_store_destroys_no_history() -> None:
    """A replica rebuilds its store, so that no folder has to be deleted; a history cannot be rebuilt."""
    advice = ADVICE["StoreDamagedError"].action
    assert "Delete" not in advice
    assert "A history cannot be rebuilt" in advice
