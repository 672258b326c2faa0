"""The page of all settings follows from the declarations in the code."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from kafka_replica.producer import ProducerSettings
from support.docs.configuration_page import CLASSES, PAGE, settings_table, tables, with_tables


@pytest.mark.thorough
def test_the_page_is_up_to_date() -> None:
    """The page has the generated tables: ``PYTHONPATH=tests python -m support.docs.configuration_page``."""
    page = PAGE.read_text(encoding="utf-8")
    assert with_tables(page) == page
    assert set(re.findall(r"<!-- (\w+) -->", page)) == set(tables())


def test_each_setting_is_in_its_table_with_a_meaning() -> None:
    """No cell of a meaning is empty, and no field is left out, except for Kafka's properties."""
    for kind in CLASSES:
        rows = re.findall(r"^\| `(\w+)` \(.+?\) \| .*? \| (.+?) \|", settings_table(kind), re.MULTILINE)
        assert [name for name, _ in rows] == [each.name for each in fields(kind) if each.name != "kafka"]
        assert all(len(meaning) > 10 for _, meaning in rows)


def test_defaults_are_those_of_the_class() -> None:
    """A default is shown as it is written in a file."""
    table = settings_table(ProducerSettings)
    assert "| `lease_s` (float) | `4` |" in table
    assert "| `validate` (bool) | `true` |" in table
    assert "| `topic` (str) | required |" in table


@pytest.mark.thorough
def test_options_of_all_commands_are_there() -> None:
    """Two options that the documentation lacked, and one that is required."""
    commands = tables()["commands"]
    assert re.search(r"### kafka-replica producer list\n.*?`--limit` \| `20`", commands, re.DOTALL)
    assert re.search(r"### kafka-replica producer replace\n.*?`--content-type`", commands, re.DOTALL)
    assert re.search(r"### kafka-replica validate\n.*?`--flow` \| required", commands, re.DOTALL)
