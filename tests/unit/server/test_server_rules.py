"""The rules of the service that need no replica: readiness, compression, entity tags, tokens and hosts."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kafka_replica import State, Status
from kafka_replica.errors import BrokerUnavailableError, ConfigurationError, KafkaReplicaError, TopicNotFoundError
from kafka_replica.records import OpenTransaction, Partition, Position
from kafka_replica.server import ListenSettings, ServerSettings
from kafka_replica.server.access.client_certificates import parse_subject, subject_of
from kafka_replica.server.access.policy import Role, Token, check_role, is_allowed_host, read_tokens
from kafka_replica.server.answers.compression import accepts_gzip
from kafka_replica.server.answers.entity_tags import suffix_of, with_suffix, without_suffix
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.listening.sockets import default_hosts
from kafka_replica.server.operation.health import readiness, readiness_json
from support.effort import examples

LAGS = st.none() | st.integers(0, 10)
STATUSES = st.builds(
    Status, state=st.sampled_from(State), ready=st.booleans(), version=st.integers(0, 3), keys=st.just(0),
    lag_s=LAGS, lag_records=LAGS, last_error=st.just("/secret/path"),
)  # fmt: skip
LIMITS = st.builds(ServerSettings, ready_when_stale=st.booleans(), max_lag_s=LAGS, max_lag_records=LAGS)


@pytest.mark.thorough
@hypothesis_settings(max_examples=examples(300))
@given(STATUSES, LIMITS)
def test_readiness_follows_the_documented_table(status: Status, limits: ServerSettings) -> None:
    """Ready needs a complete or an accepted stale version, a replica that has not ended, and a lag within limits."""
    has_ended = status.state in {State.NEW, State.FAILED, State.STOPPED}
    serves = status.ready or (limits.ready_when_stale and status.version > 0)
    lags = ((status.lag_s, limits.max_lag_s), (status.lag_records, limits.max_lag_records))
    within = all(limit is None or (lag is not None and lag <= limit) for lag, limit in lags)
    found = readiness(status, limits)
    assert found.ready == (serves and within and not has_ended)
    assert found.reason
    assert "secret" not in str(readiness_json(status, limits))


def test_each_state_has_its_own_reason() -> None:
    """The states of G7 can be distinguished by the reason alone."""
    reasons = {readiness(Status(state, True, 1, 0), ServerSettings()).reason for state in State}
    assert len(reasons) == len(State)


def test_a_topic_that_cannot_be_read_is_not_called_reading() -> None:
    """A replica that has met a problem before its first version says so, without the error itself."""
    reasons = [
        readiness(Status(State.CATCHING_UP, False, 0, 0, last_error=error), ServerSettings()).reason
        for error in ("no topic at host:9092", None)
    ]
    assert [("problem" in reason, "9092" in reason) for reason in reasons] == [(True, False), (False, False)]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (BrokerUnavailableError("host:9092 refused"), "newer records: no broker answers; the log has the details"),
        (TopicNotFoundError("no topic t at host:9092"), "newer records: the topic does not exist; the log has"),
        (ConfigurationError("host:9092 is odd"), "newer records: it has met a problem; the log has the details"),
    ],
)
def test_a_stalled_replica_has_its_cause(error: KafkaReplicaError, text: str) -> None:
    """The class of the error is enough; its message may contain addresses."""
    status = Status(State.STALLED, True, 1, 0, last_error=str(error), last_error_type=type(error).__name__)
    reason = readiness(status, ServerSettings()).reason
    assert text in reason
    assert "9092" not in reason


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("", False), ("gzip", True), ("GZIP", True), ("x-gzip", True), ("br, gzip;q=0.5", True), ("gzip;q=0", False),
        ("*", True), ("*;q=0", False), ("gzip;q=0, *", False), ("identity", False), ("gzip ; q = 0.001", True),
        ("gzip;q=x", True), ("gzip;q=.0", False), ("gzip;q=.2, *;q=0", True), (",,", False),
    ],
)  # fmt: skip
def test_gzip_is_used_if_it_is_accepted(header: str, accepted: bool) -> None:
    """Quality values and the wildcard count; the named coding wins over the wildcard."""
    assert accepts_gzip(header) is accepted


TAGS = st.text(st.characters(min_codepoint=35, max_codepoint=126), max_size=8)


@pytest.mark.thorough
@given(st.lists(st.tuples(TAGS, st.booleans()), max_size=4), st.booleans())
def test_entity_tags_round_trip_within_an_incarnation_only(tags: list[tuple[str, bool]], compressed: bool) -> None:
    """Each tag comes back as it was; those of another incarnation or release are dropped."""
    place = Partition("t", 0)
    at_one, open_there = Position({place: 1}), Position({place: 1}, [OpenTransaction(place, 7, 0, 0, [], 0)])
    own, other, release = suffix_of("a", None, "1"), suffix_of("b", None, "1"), suffix_of("a", None, "2")
    positions = {suffix_of("a", each, "1") for each in (at_one, open_there, Position({place: 2}))}
    assert len({own, other, release, *positions}) == 6
    sent = ", ".join(with_suffix(f'"{tag}"', own if mine else other, compressed=compressed) for tag, mine in tags)
    assert without_suffix(sent, own) == ", ".join(f'"{tag}"' for tag, mine in tags if mine)
    assert without_suffix("*", own) == "*"


def token(role: Role, text: str) -> Token:
    """Return a token."""
    return Token(role, hashlib.sha256(text.encode()).digest(), "")


@pytest.mark.parametrize(
    ("header", "needed", "status"),
    [
        ("Bearer r", Role.READ, None), ("bearer  r ", Role.READ, None), ("Bearer c", Role.READ, None),
        ("Bearer c", Role.CONTROL, None), ("Bearer r", Role.CONTROL, 403), ("Bearer x", Role.READ, 401),
        ("", Role.READ, 401), ("Bearer", Role.READ, 401), ("Basic r", Role.READ, 401),
        ("Bearer \udcff", Role.READ, 401),
    ],
)  # fmt: skip
def test_a_role_includes_the_ones_below(header: str, needed: Role, status: int | None) -> None:
    """A control token may read; a read token may not control; others are refused."""
    tokens = (token(Role.READ, "r"), token(Role.CONTROL, "c"))
    if status is None:
        assert check_role(tokens, header, needed).role >= needed
    else:
        with pytest.raises(Problem) as refused:
            check_role(tokens, header, needed)
        assert refused.value.status_code == status


HASH = hashlib.sha256(b"t").hexdigest()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no token"), ("# nothing\n", "no token"), (f"admin {HASH}", "line 1"), (f"\nread {HASH[1:]}", "line 2"),
        ("read secret", "line 1"), (HASH, "line 1"), ("read subject:", "line 1"), ("read subject:CN=a,b", "line 1"),
    ],
)  # fmt: skip
def test_a_malformed_file_of_tokens_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    """The message names the line, and shows no hash or secret."""
    file = tmp_path / "tokens"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=problem) as refused:
        read_tokens(file)
    assert HASH[2:] not in str(refused.value)
    assert "secret" not in str(refused.value).replace(str(file), "")
    with pytest.raises(ConfigurationError, match="reading the tokens"):
        read_tokens(tmp_path / "missing")


@pytest.mark.parametrize(
    ("line", "subject"),
    [
        ("subject:CN=build#1,O=Office", "O=Office,CN=build#1"),
        ("subject:CN=build,O=Office # the builds", "CN=build,O=Office"),
        ("subject:CN=build \\#1\t# first", "CN=build \\#1"),
        ("subject:CN=build\\ #1", "CN=build #1"),
    ],
)
def test_a_comment_begins_only_after_white_space(line: str, subject: str, tmp_path: Path) -> None:
    """A sign within a subject does not shorten the subject, and so gives no role to another certificate."""
    file = tmp_path / "tokens"
    file.write_text(f"# roles\n  # more\ncontrol {line}\n")
    assert [token.subject for token in read_tokens(file)] == [parse_subject(subject)]


@pytest.mark.parametrize(
    "text", ["CN=a\\", "CN=a,,O=b", ",CN=a", "CN=a,", "CN=a, ", "CN=a\\ ,O=b", "", ",", "CN=", "=a", "CN=a\\ "]
)
def test_a_subject_with_an_empty_or_incomplete_part_is_malformed(text: str) -> None:
    """No part of a subject is left out."""
    assert parse_subject(text) is None


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("emailAddress", ["EMAIL", "E", "emailaddress"]), ("surname", ["SN", "surname"]), ("commonName", ["CN", "cn"]),
        ("stateOrProvinceName", ["ST", "S"]), ("userId", ["UID", "userid"]), ("serialNumber", ["serialNumber"]),
        ("givenName", ["GN"]), ("streetAddress", ["STREET"]), ("title", ["title"]),
    ],
)  # fmt: skip
def test_all_names_of_an_attribute_mean_the_same(name: str, spellings: list[str]) -> None:
    """The names in a certificate and in the file of tokens may differ."""
    transport = Mock()
    transport.get_extra_info.return_value.getpeercert.return_value = {"subject": (((name, "x, y"),), (("O", "z"),))}
    for spelling in [name, *spellings]:
        assert parse_subject(f"O=z,{spelling}=x\\, y") == subject_of(transport)


def test_subjects_of_certificates_are_compared_whatever_their_order(tmp_path: Path) -> None:
    """A line of the file accepts the subject alone, not a token; its part, or more, is another subject."""
    file = tmp_path / "tokens"
    file.write_text("control subject:O=Office\\, of Statistics, cn=Ada Miller\nread subject:CN=Bob\n")
    tokens = read_tokens(file)
    ada = parse_subject("CN=Ada Miller,O=Office\\, of Statistics")
    assert (tokens[0].subject, tokens[0].holder) == (ada, ada)
    assert check_role(tokens, "", Role.CONTROL, ada).role is Role.CONTROL
    for subject in ("CN=Ada Miller", "CN=Ada Miller,O=Office", "CN=Bob,O=Office", "CN=bob"):
        with pytest.raises(Problem) as refused:
            check_role(tokens, "", Role.READ, parse_subject(subject))
        assert refused.value.status_code == 403
    for authorization in ("Bearer ", "Bearer subject:CN=Bob", "Bearer CN=Bob"):
        with pytest.raises(Problem) as refused:
            check_role(tokens, authorization, Role.READ, parse_subject("CN=Bob"))
        assert refused.value.status_code == 401


def test_tokens_have_roles_and_holders(tmp_path: Path) -> None:
    """Comments and empty lines are ignored, upper case is accepted."""
    file = tmp_path / "tokens"
    file.write_text(f"# x\n\nread {HASH.upper()} the dashboards # at home\ncontrol {HASH}\n")
    first, second = read_tokens(file)
    assert (first.role, first.holder) == (Role.READ, "the dashboards")
    assert (second.role, second.holder) == (Role.CONTROL, "")


@pytest.mark.parametrize(
    ("host", "allowed", "expected"),
    [
        ("a.org", ["a.org"], True), ("A.org:80", ["a.org"], True), ("b.org", ["a.org"], False), ("", ["a.org"], False),
        ("a.org.b.org", ["a.org"], False), ("[::1]:8080", ["[::1]"], True), ("[::1]", ["[::1]"], True),
        ("x", ["*"], True), ("a.org:x", ["a.org"], False),
    ],
)  # fmt: skip
def test_hosts_are_compared_without_port_and_case(host: str, allowed: list[str], expected: bool) -> None:
    """A host is allowed if its whole name is in the list, regardless of port and case."""
    assert is_allowed_host(host, frozenset(allowed)) is expected


def test_the_address_that_is_listened_at_is_an_allowed_host() -> None:
    """The loopback names always are; an address of IPv6 is in brackets, as in a URL."""
    assert default_hosts("127.0.0.1") == ("localhost", "127.0.0.1", "[::1]")
    assert "10.1.2.3" in default_hosts("10.1.2.3")
    assert "[fd00::1]" in default_hosts("fd00::1")
    assert "0.0.0.0" not in default_hosts("0.0.0.0")


@pytest.mark.parametrize(
    ("kind", "option", "problem"),
    [
        (ServerSettings, {"threads": 0}, "threads=0"), (ServerSettings, {"threads": 1.5}, "whole number"),
        (ServerSettings, {"max_lag_s": float("nan")}, "max_lag_s=nan"),
        (ServerSettings, {"heartbeat_s": float("inf")}, "heartbeat_s=inf"),
        (ServerSettings, {"base_paths": ("sdmx",)}, "base_paths"), (ListenSettings, {"port": 65536}, "port=65536"),
        (ServerSettings, {"base_paths": ("/sdmx/",)}, "base_paths"), (ListenSettings, {"workers": 0}, "workers=0"),
        (ListenSettings, {"access_log": "xml"}, "off, text, json"),
        (ListenSettings, {"tls_key": Path("key")}, "tls_certificate"),
    ],
)  # fmt: skip
def test_impossible_settings_are_refused(kind: type[Any], option: dict[str, Any], problem: str) -> None:
    """The message names the setting and what is possible."""
    with pytest.raises(ConfigurationError, match=problem):
        kind(**option)
