"""The reference period of a constraint of SDMX 2.1: observations before and after it are not allowed."""

from __future__ import annotations

import pytest

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.data.polars import validate
from kafka_replica.sdmx import split_message
from kafka_replica.stores.delta import Delta
from support.rules.structures_by_hand import (
    DSD,
    coded,
    codelist,
    dimension,
    findings_of_rows,
    measure,
    message,
    rules_of,
    structure,
    table,
    time,
)

_SCHEMAS = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/"
_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{_SCHEMAS}{name}"'
    for prefix, name in (("m", "message"), ("s", "structure"), ("c", "common"))
)  # fmt: skip


def with_constraint(type_: str, period: str, validity: str = "") -> Snapshot:
    """Return a data structure with a content constraint of 2.1."""
    content = (
        f"<m:Structure {_NAMESPACES}><m:Header><m:ID>T</m:ID><m:Test>true</m:Test><m:Prepared>2026-01-01T00:00:00Z"
        '</m:Prepared><m:Sender id="T"/></m:Header><m:Structures><s:Constraints>'
        '<s:ContentConstraint agencyID="T" id="C" '
        f'version="1.0" type="{type_}" {validity}><c:Name>x</c:Name><s:ConstraintAttachment><s:DataStructure>'
        f"<URN>{DSD}</URN></s:DataStructure></s:ConstraintAttachment><s:ReferencePeriod {period}/>"
        "</s:ContentConstraint>"
        "</s:Constraints></m:Structures></m:Structure>"
    )
    structures = structure(dimension("SEX", coded("SEX")), time(), measure())
    messages = [message(codelist("SEX", ["F", "M"])), message(structures), content.encode()]
    source = Partition("structures", 0)
    parts = [part for each in messages for part in split_message(each)]
    records = [
        Record(bytes(part.urn), part.value, at, -1, (("content-type", part.content_type.encode()),), source)
        for at, part in enumerate(parts)
    ]
    store = MemoryStore()
    store.apply(Delta(records), Position({source: len(records)}))
    return store.snapshot()


PERIOD = 'startTime="2010-01-01T00:00:00" endTime="2020-12-31T00:00:00"'


@pytest.mark.parametrize(
    ("written", "is_inside"),
    [("2010", True), ("2010-01-01", True), ("2020-Q4", True), ("2020-12-31", True), ("2009", False),
     ("2009-12-31", False), ("2021-01", False), ("2021-W01", False), ("Spring", None)],
)  # fmt: skip
def test_observations_outside_are_not_allowed(written: str, is_inside: bool | None) -> None:
    """A period must begin within the reference period (STRUVAL 034, 035); an invalid one only breaks its own rule."""
    rules = rules_of(with_constraint("Allowed", PERIOD))
    assert not rules.unchecked
    found = findings_of_rows(validate(table([{"SEX": "F", "TIME_PERIOD": written, "OBS_VALUE": "1"}]), rules))
    wanted = {True: [], False: [f"value-not-allowed TIME_PERIOD {written}"], None: ["time-period TIME_PERIOD Spring"]}
    assert found == [wanted[is_inside]]


@pytest.mark.parametrize("limit", ["validFrom", "validTo"])
def test_an_unreadable_validity_is_listed(limit: str) -> None:
    """A limit of a constraint's validity that cannot be read counts as missing, and is listed as unchecked."""
    dated = rules_of(with_constraint("Allowed", PERIOD, f'{limit}="12030-01-01T00:00:00"'))
    assert any("the validity 12030-01-01T00:00:00 is not understood" in one for one in dated.unchecked)


def test_an_actual_constraint_is_not_a_rule() -> None:
    """An actual constraint has no effect; an allowed one with an unreadable reference period is listed as unchecked."""
    rows = table([{"SEX": "F", "TIME_PERIOD": "1999", "OBS_VALUE": "1"}])
    assert findings_of_rows(validate(rows, rules_of(with_constraint("Actual", PERIOD)))) == [[]]
    odd = rules_of(with_constraint("Allowed", 'startTime="12010-01-01T00:00:00" endTime="2020-12-31T00:00:00"'))
    assert any("12010-01-01T00:00:00 is not understood" in one for one in odd.unchecked)
    assert findings_of_rows(validate(rows, odd)) == [[]]
