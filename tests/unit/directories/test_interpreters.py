"""Each interpreter puts or deletes what its format says, and refuses what it cannot interpret."""

from __future__ import annotations

import contextlib
import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.directories.interpreters import (
    ActiveRows,
    ConnectJson,
    DebeziumEvents,
    DeleteAll,
    FolioEvents,
    Put,
)
from kafka_replica.records import Headers, Partition, Record
from support.effort import examples

SOURCE = {"ts_ms": 500, "name": "shop", "db": "postgres", "schema": "public", "table": "terminals"}
SCOPE = "shop.postgres.public.terminals"
INSTANCE = "5bf370e0-8cca-4d9c-82e4-5170ab2a0a39"


def record(value: Any, key: Any = b"K", headers: Headers = ()) -> Record:
    """Return a record; other values than bytes are written as JSON, without spaces as Java does."""
    data, name = (
        each if isinstance(each, bytes) else json.dumps(each, separators=(",", ":")).encode() for each in (value, key)
    )
    return Record(name, data, 7, 1000, headers, Partition("t", 0))


def field(name: str, kind: str, logical: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a field of a schema, as JsonConverter writes it."""
    found = {"type": kind, "optional": True, "field": name, **more}
    return found if logical is None else {**found, "name": logical, "version": 1}


def with_schema(payload: Any, *fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a struct with its schema."""
    schema = {"type": "struct", "fields": list(fields), "optional": False, "name": "shop.public.terminals.Value"}
    return {"schema": {**schema, **more}, "payload": payload}


ID = field("id", "int32")
DAY = 2026, 1, 1


@pytest.mark.parametrize(
    ("value", "key", "expected"),
    [
        ({"id": 7}, {"id": 7}, Put("7", b'{"id":7}')),
        (with_schema({"id": 7}, ID), with_schema({"id": 7}, ID), Put("7", b'{"id":7}')),
        ({"id": 7}, "T 1", Put("T 1", b'{"id":7}')),
        ({"id": 7}, b"T 1", Put("T 1", b'{"id":7}')),
        ({"id": 7}, b'{"id":1e99999999999999999999}', Put('{"id":1e99999999999999999999}', b'{"id":7}')),
        ({"id": 7}, b'"T', Put('"T', b'{"id":7}')),
        ({"id": 7}, 12, Put("12", b'{"id":7}')),
        ({"id": 7}, {"schema": {"type": "string", "optional": False}, "payload": "T1"}, Put("T1", b'{"id":7}')),
        ({"id": 7}, {"bank": 1, "terminal": "T"}, Put('{"bank":1,"terminal":"T"}', b'{"id":7}')),
        (b"null", {"id": 7}, None),
        ({"schema": None, "payload": None}, {"id": 7}, None),
        (with_schema(None, ID), {"id": 7}, None),
        ({"schema": 1, "payload": 2, "id": 7}, {"id": 7}, Put("7", b'{"schema":1,"payload":2,"id":7}')),
        ({"name": "schema"}, {"id": 7}, Put("7", b'{"name":"schema"}')),
        ([1, 2], {"id": 7}, Put("7", b"[1,2]")),
    ],
)
def test_connect_values_are_found_with_and_without_schemas(value: Any, key: Any, expected: Put | None) -> None:
    """Values and keys are found with and without schemas; each null deletes."""
    assert ConnectJson()(record(value, key)) == expected


@pytest.mark.parametrize(
    ("number", "key"),
    [
        ("123456789012345678.25", "123456789012345678.25"),
        ("123456789012345678.26", "123456789012345678.26"),
        ("0.1", "0.1"),
        ("1.50", "1.50"),
        ("7", "7"),
        ("12345678901234567890123", "12345678901234567890123"),
    ],
)
def test_keys_have_all_digits_of_their_numbers(number: str, key: str) -> None:
    """Numbers that differ in a digit that a float does not have remain different keys, alone and with others."""
    row = f'{{"id":{number}}}'.encode()
    several = f'{{"id":{number},"bank":"B"}}'.encode()
    amount = field("id", "double")
    keyed = json.dumps(with_schema({"id": "NUMBER"}, amount)).replace('"NUMBER"', number).encode()
    assert [ConnectJson().key(record(b"1", name)) for name in (row, keyed)] == [key, key]
    assert ConnectJson().key(record(b"1", several)) == f'{{"id":{key},"bank":"B"}}'
    assert ActiveRows(key="id")(record(row)) == [Put(key, row)]
    assert ActiveRows(key=["bank", "id"])(record(several)) == [Put(f'["B",{key}]', several)]


def test_connect_json_with_a_stated_form() -> None:
    """Rows that look like values with a schema are understood if that is said; a missing schema is an error."""
    row = {"schema": None, "payload": None}
    assert ConnectJson(schemas=False)(record(row, b"K")) == Put("K", b'{"schema":null,"payload":null}')
    assert ConnectJson(schemas=True)(record(b"null", {"schema": None, "payload": "K"})) is None
    with pytest.raises(ValueError, match=r"no schema and payload: .* set schemas=False"):
        ConnectJson(schemas=True)(record({"id": 7}, b"K"))


class Payment(msgspec.Struct):
    """A row with each of the logical types."""

    amount: Decimal
    rate: Decimal
    on: date
    at: time
    when: datetime
    local: datetime
    micro: datetime
    day_time: time
    history: list[Decimal | None]
    by_name: dict[str, date]
    inner: dict[str, date]
    price: Decimal
    missing: date | None
    size: float
    big: int


def test_logical_types_are_decoded_exactly() -> None:
    """With a schema, decimals, dates and times of Connect and Debezium are decoded into Python's types, exactly."""
    decimal, connect_date = "org.apache.kafka.connect.data.Decimal", "org.apache.kafka.connect.data.Date"
    scale = {"parameters": {"scale": "2", "connect.decimal.precision": "9"}}
    fields = [
        field("amount", "bytes", decimal, **scale),
        field("rate", "bytes", decimal, **scale),
        field("on", "int32", connect_date),
        field("at", "int32", "org.apache.kafka.connect.data.Time"),
        field("when", "int64", "org.apache.kafka.connect.data.Timestamp"),
        field("local", "int64", "io.debezium.time.Timestamp"),
        field("micro", "int64", "io.debezium.time.MicroTimestamp"),
        field("day_time", "int64", "io.debezium.time.MicroTime"),
        field("history", "array", items={"type": "bytes", "optional": True, "name": decimal, **scale}),
        field("by_name", "map", keys={"type": "string"}, values={"type": "int32", "name": connect_date}),
        field("inner", "struct", "inner.Value", fields=[field("day", "int32", "io.debezium.time.Date")]),
        field("price", "struct", "io.debezium.data.VariableScaleDecimal", fields=[]),
        field("missing", "int32", connect_date),
        field("size", "double"),
        field("big", "int64"),
    ]
    payload = {
        "amount": b64encode((-1250).to_bytes(2, "big", signed=True)).decode(),
        "rate": "RATE",  # decimal.format=NUMERIC
        "on": 20454,
        "at": 3_723_004,
        "when": 1_767_225_600_123,
        "local": -1,
        "micro": 1_767_225_600_123_456,
        "day_time": 86_399_999_999,
        "history": [b64encode(b"\x01").decode(), None],
        "by_name": {"first": 0},
        "inner": {"day": -719162},
        "price": {"scale": 3, "value": b64encode((10**30).to_bytes(13, "big")).decode()},
        "missing": None,
        "size": 0.1,
        "big": 2**62 + 1,
    }
    text = json.dumps(with_schema(payload, *fields)).replace('"RATE"', "12345678901234567890.05")
    put = ConnectJson()(record(text.encode(), b"K"))
    assert isinstance(put, Put)
    assert msgspec.json.decode(put.value, type=Payment) == Payment(
        amount=Decimal("-12.50"),
        rate=Decimal("12345678901234567890.05"),
        on=date(2026, 1, 1),
        at=time(1, 2, 3, 4000),
        when=datetime(2026, 1, 1, 0, 0, 0, 123000, UTC),
        local=datetime(1969, 12, 31, 23, 59, 59, 999000),  # noqa: DTZ001
        micro=datetime(2026, 1, 1, 0, 0, 0, 123456),  # noqa: DTZ001
        day_time=time(23, 59, 59, 999999),
        history=[Decimal("0.01"), None],
        by_name={"first": date(1970, 1, 1)},
        inner={"day": date(1, 1, 1)},
        price=Decimal(10**27),
        missing=None,
        size=0.1,
        big=2**62 + 1,
    )


@pytest.mark.parametrize(
    ("logical", "value"),
    [
        ("io.debezium.time.MicroTimestamp", 2**63 - 1),  # PostgreSQL's infinity
        ("org.apache.kafka.connect.data.Date", "yesterday"),
        ("io.debezium.time.MicroTime", 86_400_000_000),
        ("io.debezium.data.VariableScaleDecimal", {}),
        ("io.debezium.time.NanoTime", 86_400_000_000_001),
        ("io.debezium.time.NanoTime", 86_399_999_999_500),  # which msgspec rounds to 00:00:00
        ("io.debezium.time.NanoTimestamp", "yesterday"),
        ("io.debezium.time.IsoDate", "12026-01-01Z"),
        ("io.debezium.time.IsoDate", 20454),
    ],
)
def test_values_that_do_not_fit_to_their_schema(logical: str, value: Any) -> None:
    """A value that its logical type cannot have makes the record bad."""
    with pytest.raises(ValueError, match="the value does not match its schema"):
        ConnectJson()(record(with_schema({"x": value}, field("x", "int64", logical)), b"K"))


@pytest.mark.parametrize(
    ("logical", "value", "text", "kind", "expected"),
    [
        ("NanoTimestamp", 1_767_225_600_123_456_000, "2026-01-01T00:00:00.123456", datetime, (*DAY, 0, 0, 0, 123456)),
        ("NanoTimestamp", 1_767_225_600_000_000_789, "2026-01-01T00:00:00.000000789", datetime, (*DAY, 0, 0, 0, 1)),
        ("NanoTimestamp", -1, "1969-12-31T23:59:59.999999999", datetime, (1970, 1, 1)),
        ("NanoTime", 3_600_000_000_000, "01:00:00", time, (1,)),
        ("NanoTime", 3_600_000_000_020, "01:00:00.000000020", time, (1,)),
        ("NanoTime", 86_399_999_999_499, "23:59:59.999999499", time, (23, 59, 59, 999999)),
        ("IsoDate", "2026-01-01Z", "2026-01-01", date, DAY),
    ],
)  # fmt: skip
def test_nanoseconds_and_dates_as_text(logical: str, value: Any, text: str, kind: Any, expected: Any) -> None:
    """The text has all nanoseconds, as that of ZonedTimestamp; a date has no time zone, which no decoder accepts."""
    fields = field("x", "string", f"io.debezium.time.{logical}"), field("y", "int64", f"io.debezium.time.{logical}")
    put = ConnectJson()(record(with_schema({"x": value, "y": None}, *fields), b"K"))
    assert isinstance(put, Put)
    assert msgspec.json.decode(put.value) == {"x": text, "y": None}
    assert msgspec.json.decode(put.value, type=dict[str, kind | None])["x"] == kind(*expected)


def test_other_types_of_debezium_for_times_remain_unless_they_are_unknown() -> None:
    """Texts in ISO 8601, durations and years are not converted; a type of the future is named."""
    for name in ("Interval", "IsoTime", "IsoTimestamp", "MicroDuration", "NanoDuration", "Year", "ZonedTimestamp"):
        found = with_schema({"x": 1, "on": 0}, field("x", "int64", f"io.debezium.time.{name}"), field("on", "int32"))
        assert ConnectJson()(record(found, b"K")) == Put("K", b'{"x":1,"on":0}')
    unknown = with_schema({"x": 1}, field("x", "int64", "io.debezium.time.PicoTimestamp"))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"io\.debezium\.time\.PicoTimestamp of Debezium is unknown"):
            ConnectJson()(record(unknown, b"K"))


def test_schemas_are_compiled_once_for_each_form() -> None:
    """A schema is not confused with another one, nor with a part of itself."""
    for kind, expected in (("org.apache.kafka.connect.data.Date", b'{"x":"1970-01-02"}'), (None, b'{"x":1}')):
        found = record(with_schema({"x": 1}, field("x", "int32", kind)), b"K")
        for _ in range(2):
            assert ConnectJson()(found) == Put("K", expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"terminalId": "T1", "bank": 7}, [Put("T1", b'{"terminalId":"T1","bank":7}')]),
        ({"terminalId": 5, "isActive": True}, [Put("5", b'{"terminalId":5,"isActive":true}')]),
        ({"terminalId": "T1", "isActive": 1}, [Put("T1", b'{"terminalId":"T1","isActive":1}')]),
        ({"terminalId": "T1", "isActive": None}, [Put("T1", b'{"terminalId":"T1","isActive":null}')]),
        ({"terminalId": "T1", "isActive": False}, []),
        ({"isActive": 0}, []),
        (with_schema({"terminalId": "T1", "isActive": False}, field("isActive", "boolean")), []),
        (b"null", None),
    ],
)
def test_an_inactive_row_puts_nothing(value: Any, expected: Any) -> None:
    """A row that is not active puts nothing; the key is a field of the row."""
    assert ActiveRows(key="terminalId")(record(value)) == expected


def test_active_rows_of_other_interpreters() -> None:
    """The flag may have another name, the key several fields, and the rows may come from any interpreter."""
    rows = ActiveRows(["bank", "id"], "active", DebeziumEvents())
    event = {"op": "u", "after": {"id": 1, "bank": "B", "active": "yes"}, "source": SOURCE}
    with pytest.raises(ValueError, match="its field active is 'yes', not true or false"):
        rows(record(event))
    event["after"] = {"id": 1, "bank": "B", "active": True}
    assert rows(record(event)) == [Put('["B",1]', b'{"id":1,"bank":"B","active":true}', SCOPE, 500)]
    assert rows(record({"op": "t", "source": SOURCE})) == DeleteAll(SCOPE, 500)
    assert ActiveRows()(record({"isActive": True}, {"id": 3})) == [Put("3", b'{"isActive":true}')]
    with pytest.raises(ValueError, match="it has no field id, the key"):
        rows(record({"op": "c", "after": {"bank": "B"}}))


ROW = {"id": 7, "name": "Linz"}
PUT = Put("7", b'{"id":7,"name":"Linz"}', SCOPE, 500)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"before": None, "after": ROW, "source": SOURCE, "op": "c", "ts_ms": 1, "transaction": None}, PUT),
        ({"before": {"id": 7}, "after": ROW, "source": SOURCE, "op": "u"}, PUT),
        ({"before": None, "after": ROW, "source": SOURCE, "op": "r"}, PUT),
        ({"before": ROW, "after": None, "source": SOURCE, "op": "d"}, None),
        ({"source": SOURCE, "op": "t"}, DeleteAll(SCOPE, 500)),
        ({"op": "m", "ts_ms": 1, "source": SOURCE, "message": {"prefix": "p", "content": ""}}, None),
        (b"null", None),
        ({"ts_ms": 1}, None),
        ({"status": "BEGIN", "id": "571:53195829", "ts_ms": 1, "event_count": None, "data_collections": None}, None),
        ({"source": {}, "databaseName": "shop", "schemaName": None, "ddl": "ALTER TABLE t", "tableChanges": []}, None),
    ],
)
def test_each_debezium_event_puts_or_deletes(value: Any, expected: Any) -> None:
    """Each kind of event puts, deletes or means nothing, with and without a schema."""
    assert DebeziumEvents()(record(value, {"id": 7})) == expected
    if isinstance(value, dict):
        enveloped = {"schema": {"type": "struct", "fields": [field("after", "struct", fields=[ID])]}, "payload": value}
        assert DebeziumEvents()(record(enveloped, with_schema({"id": 7}, ID))) == expected


def test_logical_types_in_debezium_events() -> None:
    """The row is converted by its part of the schema."""
    after = field("after", "struct", "Value", fields=[field("day", "int32", "io.debezium.time.Date")])
    event = with_schema({"op": "c", "after": {"day": 1}, "source": SOURCE}, after)
    assert DebeziumEvents()(record(event)) == Put("K", b'{"day":"1970-01-02"}', SCOPE, 500)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"op": "u", "after": {"note": "__debezium_unavailable_value"}}, "a large value is missing"),
        ({"op": "u", "after": {"data": b64encode(b"__debezium_unavailable_value").decode()}}, "REPLICA IDENTITY FULL"),
        ({"op": "c", "after": None}, "op=c has no state after"),
        ({"op": "x"}, "no op='x'"),
        (ROW, "it has no op; set flattened=True"),
    ],
)
def test_bad_debezium_events(value: Any, reason: str) -> None:
    """An event that does not give the state of its row is bad."""
    with pytest.raises(ValueError, match=reason):
        DebeziumEvents()(record(value))


def test_flattened_debezium_events() -> None:
    """Rows of ExtractNewRecordState are put, and those that are marked as deleted are not, as text or as a boolean."""
    flattened = DebeziumEvents(flattened=True)
    row = {**ROW, "__deleted": "false"}
    assert flattened(record(row, {"id": 7})) == Put("7", b'{"id":7,"name":"Linz","__deleted":"false"}')
    assert flattened(record({"id": 7, "note": "__deleted"})) == Put("K", b'{"id":7,"note":"__deleted"}')
    for flag in ("true", True):
        assert flattened(record({**ROW, "__deleted": flag})) is None
        assert flattened(record(with_schema({**ROW, "__deleted": flag}, ID))) is None
    assert flattened(record(b"null")) is None
    with pytest.raises(ValueError, match="a large value is missing"):
        flattened(record({"id": 7, "note": "__debezium_unavailable_value"}))


def folio(kind: str, **more: Any) -> dict[str, Any]:
    """Return an event of FOLIO."""
    return {"type": kind, "tenant": "diku", **more}


NEW = {"id": INSTANCE, "title": "Semantic web primer"}
TEXT = json.dumps(NEW, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (folio("CREATE", new=NEW), Put(INSTANCE, TEXT)),
        (folio("UPDATE", old=NEW, new=NEW, ts="1700000000000"), Put(INSTANCE, TEXT, "", 1_700_000_000_000)),
        (folio("UPDATE", id=INSTANCE, new={"title": "x"}, ts=5), Put(INSTANCE, b'{"title":"x"}', "", 5)),
        (folio("DELETE", old=NEW), None),
        (folio("DELETE_ALL", ts="5"), DeleteAll("", 5)),
        (folio("DELETE_ALL"), DeleteAll()),
        ({**folio("CREATE", new=NEW), "tenant": "other"}, None),
        ({**folio("DELETE"), "tenant": "other"}, None),
    ],
)
def test_each_folio_event_of_the_tenant_puts_or_deletes(event: Any, expected: Any) -> None:
    """Each kind of event of the tenant puts or deletes; events of other tenants put nothing."""
    headers: Headers = (("X-Okapi-Url", b"http://okapi"), ("X-Okapi-Tenant", event["tenant"].encode()))
    assert FolioEvents("diku")(record(event, INSTANCE.encode(), headers)) == expected
    assert FolioEvents("diku")(record(event, INSTANCE.encode())) == expected


@pytest.mark.parametrize(
    ("event", "key", "reason"),
    [
        (folio("REINDEX"), INSTANCE, "type REINDEX does not state"),
        (folio("CREATE", new=NEW), "another instance", f"not the id of its entity, {INSTANCE}"),
        (folio("CREATE", old=NEW), INSTANCE, "it has no new state"),
        (folio("CREATE", new=NEW, ts="today"), INSTANCE, "invalid literal"),
        ({**folio("DELETE_ALL"), "tenant": "other"}, "0" * 8, "the tenant other deletes all of its entities"),
        ({"type": "DELETE"}, INSTANCE, "it names no tenant"),
        ({"tenant": "diku"}, INSTANCE, "missing required field `type`"),
    ],
)
def test_bad_folio_events(event: Any, key: str, reason: str) -> None:
    """An event from which the state of its entity cannot be learnt is bad."""
    with pytest.raises(ValueError, match=reason):
        FolioEvents("diku")(record(event, key.encode()))


def test_a_header_that_contradicts_the_event() -> None:
    """The tenant may come from the header alone; two different tenants are an error."""
    event = folio("CREATE", new=NEW)
    with pytest.raises(ValueError, match="names the tenants central, diku"):
        FolioEvents("diku")(record(event, INSTANCE.encode(), (("x-okapi-tenant", b"central"),)))
    del event["tenant"]
    found = FolioEvents("diku")(record(event, INSTANCE.encode(), (("X-OKAPI-TENANT", b"diku"),)))
    assert found == Put(INSTANCE, TEXT)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "struct", "int32", "c", "CREATE", "diku"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["schema", "payload", "type", "fields", "op", "after", "name", "new", "tenant", "id"]),
            inner,
        )
    ),
    max_leaves=12,
)
INTERPRETERS: list[Callable[[Record], object]] = [
    ConnectJson(),
    ConnectJson(True),
    ActiveRows("id"),
    DebeziumEvents(),
    DebeziumEvents(flattened=True),
    FolioEvents("diku"),
]


@pytest.mark.thorough
@settings(max_examples=examples(500), deadline=None)
@given(JSON | st.binary(max_size=9), JSON | st.binary(max_size=9))
def test_a_malformed_record_raises_only_value_errors(value: Any, key: Any) -> None:
    """Whatever a record holds, an interpreter gives puts or a deletion, or raises a ValueError."""
    for interpreter in INTERPRETERS:
        with contextlib.suppress(ValueError):
            found = interpreter(record(value, key))
            puts = found if isinstance(found, list) else [] if found is None else [found]
            assert all(isinstance(put, Put | DeleteAll) for put in puts)
