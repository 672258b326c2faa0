"""The validity of codes: which lists are looked through, and what is listed because it cannot be checked."""

from __future__ import annotations

import pytest

from kafka_replica import Snapshot
from kafka_replica.data.validation import Rules, compile_rules
from kafka_replica.data.validation.item_validity import dated_values
from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.model import Codelist
from kafka_replica.testing import FakeTopic
from support.rules.structures_by_hand import (
    coded,
    codelist,
    dimension,
    extension,
    measure,
    rules_of,
    structure,
    time,
    version_of,
)

AREA_URN = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:AREA(1.0)"
STRUCTURE = structure(dimension("AREA", coded("AREA")), time(), measure())
DATED = codelist("AREA", ["A@2010/2015", "B"])


def validity_checks(rules: Rules) -> list[str]:
    """Return the messages of the checks of validity."""
    return [check.message for check in rules.checks if check.rule == "value-not-valid"]


@pytest.mark.parametrize("title", ["2010", "2010-2015", "soon/2015", "2010/later", "2010/2015/2020", ""])
def test_an_annotation_that_is_not_understood_is_listed(title: str) -> None:
    """The code is not checked, and the report says so."""
    plain = codelist("AREA", ["A@2010/2015", "B"])
    lists = (
        plain.replace("2010/2015", title)
        if title
        else plain.replace("<c:AnnotationTitle>2010/2015</c:AnnotationTitle>", "")
    )
    rules = rules_of(version_of(lists, STRUCTURE))
    assert validity_checks(rules) == []
    assert [one.partition(",")[0] for one in rules.unchecked] == ["AREA: the validity of A of T:AREA(1.0)"]


def test_a_rule_that_is_off_is_no_check() -> None:
    """The severity is that of the rule for values of constraints."""
    assert validity_checks(rules_of(version_of(DATED, STRUCTURE))) != []
    assert validity_checks(rules_of(version_of(DATED, STRUCTURE), rules={"value-not-valid": "off"})) == []


def test_inherited_codes_keep_their_validity() -> None:
    """Codes of an extension are checked, although the message of the list that extends has no annotation."""
    base = DATED.replace("AREA", "BASE")
    rules = rules_of(version_of(base, codelist("AREA", ["X"], extension("BASE")), STRUCTURE))
    assert validity_checks(rules) == [
        "the value of AREA is not valid at this time by T:AREA(1.0): FR_VALIDITY_PERIOD 2010/2015"
    ]


@pytest.mark.parametrize("written", ["FR_VALIDITY_PERIOD", "FR&#95;VALIDITY_PERIOD", "FR&#x5F;VALIDITY_PERIOD"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_annotation_is_found_however_it_is_written(written: str, encoding: str) -> None:
    """Character references and other encodings do not hide it."""
    topic = FakeTopic()
    snapshot = version_of(DATED, STRUCTURE)
    for key in snapshot:
        record = snapshot.get(key)
        assert record is not None
        assert record.value is not None
        text = record.value.decode().replace("FR_VALIDITY_PERIOD", written)
        declared = (
            text if encoding == "utf-8" else f'<?xml version="1.0" encoding="{encoding}"?>' + text.partition("?>")[2]
        )
        topic.put(key, declared.encode(encoding))
    with topic.replica() as replica:
        replica.wait_ready(60)
        assert len(validity_checks(rules_of(replica.snapshot()))) == 1


def test_lists_without_the_annotation_are_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of many codes costs a search in its stored message, and no look at its codes."""
    looked: list[str] = []

    def noting(enumeration: Codelist) -> object:
        looked.append(enumeration.urn.id)
        return dated_values(enumeration)

    monkeypatch.setattr("kafka_replica.data.validation.item_validity.dated_values", noting)
    rules_of(version_of(codelist("AREA", ["A", "B"]), STRUCTURE))
    assert looked == []
    rules_of(version_of(DATED, STRUCTURE))
    assert looked == ["AREA"]


def test_artefacts_that_have_lapsed_are_listed() -> None:
    """Dates of a list or structure itself are not rules for data, and are listed if they exclude the date."""
    lapsed = DATED.replace('id="AREA"', 'id="AREA" validTo="2015-12-31T00:00:00"', 1)
    version = version_of(lapsed, STRUCTURE)

    def listed(snapshot: Snapshot, day: str) -> list[str]:
        from datetime import date

        structures = Structures(snapshot)
        return list(compile_rules(structures, "T:D(1.0)", as_of=date.fromisoformat(day)).unchecked)

    assert listed(version, "2015-01-01") == []
    [reason] = listed(version, "2016-01-01")
    assert reason.startswith(f"{AREA_URN}: it is not valid on 2016-01-01, by its own dates")
