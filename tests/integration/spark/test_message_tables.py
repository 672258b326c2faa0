"""Tables of pyarrow with the rows of a message: batches, in which columns may have different forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_replica.data.files.messages.blocks import Block
from kafka_replica_spark import message_tables
from kafka_replica_spark.locations import AT, LINE, PATH
from kafka_replica_spark.message_tables import common_forms, in_forms, tables_of

_ENGLISH = [{"language": "en", "text": "x"}]
_UNKNOWN = [{"language": "und", "text": "a"}]


def test_each_table_has_at_most_the_rows_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks longer and shorter than a batch give all rows once and in order, numbered from 1."""
    monkeypatch.setattr(message_tables, "BATCH_ROWS", 4)
    sizes = [1, 9, 0, 2, 1, 1, 7, 2]
    tables = list(tables_of(_blocks([[str(number)] * size for number, size in enumerate(sizes)])))
    assert max(table.num_rows for table in tables) == 4
    assert [one for table in tables for one in table["A"].to_pylist()] == [
        str(number) for number, size in enumerate(sizes) for _ in range(size)
    ]
    assert [one for table in tables for one in table[AT].to_pylist()] == list(range(1, sum(sizes) + 1))


def test_a_message_without_rows_has_one_empty_table() -> None:
    """Spark needs a schema for a message without rows, too."""
    (table,) = tables_of(iter(()))
    assert (table.num_rows, table.column_names) == (0, [AT, LINE, PATH])


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([["a"], [None]], ["a", None]),
        ([[None], ["a"]], [None, "a"]),
        ([["a"], [["b", "c"]]], [["a"], ["b", "c"]]),
        ([["a"], [{"en": "x"}]], [_UNKNOWN, _ENGLISH]),
        ([[["a"]], [{"en": "x"}]], [[_UNKNOWN], [_ENGLISH]]),
        ([[None], [None]], [None, None]),
    ],
)
def test_batches_get_a_form_for_the_values_of_all(
    monkeypatch: pytest.MonkeyPatch, batches: list[list[Any]], expected: list[Any]
) -> None:
    """Texts, several values and texts by language in different batches become one form without loss."""
    monkeypatch.setattr(message_tables, "BATCH_ROWS", 1)
    tables = list(tables_of(_blocks(batches)))
    forms = common_forms(table.schema for table in tables)
    converted = [in_forms(table, forms) for table in tables]
    assert len(tables) == len(batches)
    assert len({str(table.schema) for table in converted}) == 1
    assert [one for table in converted for one in table["A"].to_pylist()] == expected


def test_a_column_that_a_batch_lacks_is_null_in_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another data set of a message may have other columns."""
    monkeypatch.setattr(message_tables, "BATCH_ROWS", 1)
    blocks = [(None, Block(1, {}, {"A": ["a"]})), (None, Block(1, {}, {"B": [["b"]]}))]
    tables = list(tables_of(iter(blocks)))
    forms = common_forms(table.schema for table in tables)
    rows = [row for table in tables for row in in_forms(table, forms).select(["A", "B"]).to_pylist()]
    assert rows == [{"A": "a", "B": None}, {"A": None, "B": ["b"]}]


def _blocks(columns: list[list[Any]]) -> Iterator[tuple[int | None, Block]]:
    for values in columns:
        yield None, Block(len(values), {}, {"A": values})
