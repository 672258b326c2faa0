"""Build the table of all findings of a job, and the report of the European Statistical System from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.jobs.ess_report import OF_RULES, event_now, finding_json, rule_json, write_objects
from kafka_replica.data.validation.finding_columns import FINDING_COLUMNS, TIME
from kafka_replica.data.validation.locations import Location
from kafka_replica.data.validation.model import ERRORS, FIELDS, Finding, Rules
from kafka_replica.data.validation.report import Report
from kafka_replica.data.validation.report_building import SERIES
from kafka_replica_spark.locations import AT, FILE, LINE, PATH, PREFIX, ROW, SOURCE, with_row_numbers
from kafka_replica_spark.rows import join_with_dots, prepare_frame

_PLACE: Final = f"{PREFIX}place"
_ORDER: Final = (SOURCE, FILE, ROW, AT, _PLACE)
_BLOCK_ROWS: Final = 10_000
_TYPES: Final = {"line": "int", "row": "int", "part_row": "int"}


def finding_table(
    checked: DataFrame,
    data: DataFrame,
    rules: Rules,
    dataset: Sequence[Finding],
    *,
    names_files: bool,
    file_of_dataset: str | None = None,
) -> DataFrame:
    """Return all findings, one per row: first those of the data set, then the others by source, file and row.

    Args:
        checked: rows with ``_errors`` and the columns of locations; for mapped data, the source rows.
        data: all rows as they were read.
        rules: the rules of the data; for mapped data, those of the source.
        dataset: the findings about the data set as a whole.
        names_files: whether locations include the file.
        file_of_dataset: the file of the findings about the data set as a whole; None if there are several.
    """
    found = checked.filter(F.col(ERRORS).isNotNull())
    series, period = series_and_period(found, rules)
    places = [F.col(name) for name in found.columns if name.startswith(PREFIX)]
    long = found.select(*places, series.alias(SERIES), period.alias(TIME), F.posexplode(ERRORS).alias(_PLACE, "found"))
    long = with_row_numbers(long.select(*long.columns[:-1], "found.*"), data)
    listed = long.withColumns({"file": F.col(FILE) if names_files else F.lit(None).cast("string"),
                               "line": F.col(LINE), "row": F.col(ROW), "path": F.col(PATH)})  # fmt: skip
    whole = _of_data_set(listed, dataset, file_of_dataset)
    rows = listed if whole is None else whole.unionByName(listed, allowMissingColumns=True)
    ordered = rows.orderBy(*(F.asc_nulls_first(name) for name in _ORDER))
    return ordered.select(
        *(
            (F.col(name) if name in rows.columns else F.lit(None)).cast(_TYPES.get(name, "string")).alias(name)
            for name in FINDING_COLUMNS
        )
    )


def series_and_period(found: DataFrame, rules: Rules) -> tuple[Column, Column]:
    """Return the series key and the period of each row of data with ``_errors``."""
    texts = prepare_frame(found.drop(ERRORS), rules).texts
    time = next((column.id for column in rules.columns if column.is_time and column.id in found.columns), None)
    period = F.lit(None).cast("string") if time is None else texts[time]
    return series_key(texts, rules, found.columns), period


def series_key(texts: Mapping[str, Column], rules: Rules, given: Collection[str]) -> Column:
    """Return the series key of each row; NULL if no dimension has a column.

    Args:
        texts: the texts of the components.
        rules: the rules of the rows.
        given: the columns of the data. A dimension without a column is an empty part of the key, as in a row that lacks
            its value.
    """
    parts = [texts.get(one, F.lit(None).cast("string")) for one in rules.series]
    columns = {name.casefold() for name in given}  # Spark's names are case-insensitive
    return join_with_dots(parts if any(one.casefold() in columns for one in rules.series) else [])


def _of_data_set(like: DataFrame, dataset: Sequence[Finding], file: str | None) -> DataFrame | None:
    if not dataset:
        return None
    schema = ", ".join(f"{name} string" for name in FIELDS) + f", {_PLACE} int, file string"
    rows = [(*(one._asdict()[name] for name in FIELDS), number, file) for number, one in enumerate(dataset)]
    return like.sparkSession.createDataFrame(rows, schema)


def write_ess_report(
    path: Path, table: DataFrame, report: Report, rules: Rules | None, *, most: int | None = None
) -> None:
    """Write a report in the format of the European Statistical System.

    Args:
        path: the file.
        table: the table of findings.
        report: the report of the same findings.
        rules: the rules of the data; None if there is no list of all rules, as for maps.
        most: the maximum number of findings that are written; None means all.

    Raises:
        UsageError: the file cannot be written.
    """
    event = event_now()
    kinds: dict[tuple[str | None, ...], str] = {}

    def written(number: int, row: Row) -> str:
        kind = tuple(row[name] for name in OF_RULES)
        if kind not in kinds:
            kinds[kind] = rule_json(kind, event)
        place = str(Location(row["file"], row["line"], row["row"], path=row["path"])) or None
        return finding_json(
            number, kinds[kind], report, (row["time"], row["series"], row["component"]), place, row["value"]
        )

    rows = enumerate(islice(table.toLocalIterator(), most), start=1)
    blocks = iter(lambda: [written(*row) for row in islice(rows, _BLOCK_ROWS)], [])
    write_objects(path, blocks, report, rules, event)
