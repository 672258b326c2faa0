"""Public data messages are read as an independent, naive reading of the same files says.

The files are not part of the project. ``KAFKA_REPLICA_DATA_SAMPLES`` names a folder with any number of them, such as
the samples in sdmx-twg/sdmx-ml, sdmx-twg/sdmx-json and khaeru/sdmx-test-data; by default it is ``data-messages`` in
the corpus.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from kafka_replica.data.files.content import read_content
from kafka_replica.data.files.messages import data_message_rows
from kafka_replica.data.polars.datasets.reading import read_one_sdmx_csv
from kafka_replica.errors import KafkaReplicaError
from support.datasets.every_format import FILES as EVERY_FORMAT
from support.datasets.naive_edi import NaiveSet, naive_interchange
from support.datasets.naive_json import naive_rows
from support.datasets.naive_ml import Naive, naive_message
from support.paths import CORPUS
from support.rules.structures_by_hand import URN, attribute, dimension, measure, rules_of, structure, time, version_of
from support.rules.structures_by_hand import text as of_text

VARIABLE: Final = "KAFKA_REPLICA_DATA_SAMPLES"
FOLDER: Final = Path(os.environ.get(VARIABLE, CORPUS / "data-messages"))
FILES: Final = sorted(path for path in FOLDER.rglob("*") if path.is_file()) if FOLDER.is_dir() else []
OWN: Final = {
    name: made for name, made in EVERY_FORMAT.items() if name.startswith("SDMX") and made[0] != "xlsx"
}  # fmt: skip
_STANDING: Final = {"STRUCTURE", "STRUCTURE_ID"}
_REFUSED: Final = (
    "it is UtilityData", "has no data", "not an SDMX-JSON data message", "is not an index of", "the key has",
    "has no values",
    "cells, the first row", "which cells are codes", "does not name the separator", "more than one column",
)  # fmt: skip
"""Parts of the messages with which files are refused that the standard does not allow, or that have no data."""

_WRONG_IN_SDMX1: Final = "DataXMLDataOnly.xml"
_MOST_FOR_SDMX1: Final = 3_000_000

Row = dict[str, Any]


def _rows(file: Path) -> list[Row]:
    """Return the rows that the reader finds, without components that have no value."""
    rows = [data_message_row.row for data_message_row in data_message_rows(file)]
    return [{name: value for name, value in row.items() if value is not None and name not in _STANDING} for row in rows]


def _compared(found: list[Row], expected: list[Row]) -> int:
    """Check that all expected rows are found in their order; return the number of others, which have no observation."""
    others, rest = 0, iter(expected)
    wanted = next(rest, None)
    for row in found:
        if row == wanted:
            wanted = next(rest, None)
        else:
            others += 1
    assert wanted is None, f"not found: {wanted}"
    return others


def _ml(file: Path, content: bytes) -> int:
    naive: Naive = naive_message(content)
    others = _compared(_rows(file), naive.rows)
    assert naive.empty <= others <= naive.empty + len(naive.groups) + naive.data_sets
    return len(naive.rows)


def _json(file: Path, content: bytes) -> int:
    found = _rows(file)
    expected = naive_rows(content)
    texts = [{name: _in_languages(value) for name, value in row.items()} for row in expected]
    _compared([{name: _in_languages(value) for name, value in row.items()} for row in found], texts)
    return len(expected)


def _in_languages(value: Any) -> Any:
    return [{"language": one, "text": text} for one, text in value.items()] if isinstance(value, dict) else value


def _edi(file: Path, content: bytes) -> int:
    """Compare each data set, with a structure that has as many dimensions as its keys."""
    agency = re.findall(rb"NAD\+Z02\+([^'+:]+)", content)[0].decode()
    naive = naive_interchange(content)
    for one in naive:
        rules = rules_of(*_structure(one, agency))
        found = [
            {name: value for name, value in row.items() if value is not None and name not in {*_STANDING, "ACTION"}}
            for row in (each.row for each in data_message_rows(file, rules))
            if row["STRUCTURE_ID"] == f"{agency}:{one.structure}(*)" and "TIME_PERIOD" in row
        ]
        _compared(found, one.rows)
    return sum(len(one.rows) for one in naive)


def _structure(one: NaiveSet, agency: str) -> tuple[Any, str]:
    names = {name for _, values in one.attributes for name in values} | {"OBS_STATUS", "OBS_CONF", "OBS_PRE_BREAK"}
    made = structure(
        *(dimension(f"D{at}", of_text()) for at in range(1, one.size + 1)), time(), measure(),
        *(attribute(name) for name in sorted(names)),
    )  # fmt: skip
    made = made.replace('id="D"', f'id="{one.structure}"', 1).replace('agencyID="T"', f'agencyID="{agency}"', 1)
    return version_of(made), f"{URN}datastructure.DataStructure={agency}:{one.structure}(1.0)"


def _csv(file: Path, content: bytes) -> int:
    """Compare cells; a cell with several values contains each of them."""
    read = read_one_sdmx_csv(file, rules=None, encoding=None, decimal=".").values.to_dicts()
    text = content.decode("utf-8-sig").strip("\r\n")
    first = re.match(r'"?(?:DATAFLOW|STRUCTURE)(?:\[.\])?"?(.)', text)
    assert first is not None
    header, *table = [row for row in csv.reader(io.StringIO(text), delimiter=first[1]) if row]
    assert len(read) == len(table)
    for row, cells in zip(read, table, strict=True):
        for title, cell in zip(header, cells, strict=True):
            name = title.partition("[")[0]
            if name not in {"SERIES_KEY", "OBS_KEY"}:
                assert _fits(row[name], cell), (title, cell, row[name])
    return len(table)


def _fits(value: Any, cell: str) -> bool:
    if isinstance(value, list):
        return all(_fits(one, cell) for one in value)
    if isinstance(value, dict):
        return value["text"] is None or value["text"] in cell
    return (value or "") in cell if value != cell else True


def _comparison_of(content: bytes) -> Callable[[Path, bytes], int] | None:
    start = content.lstrip(b"\xef\xbb\xbf \r\n\t")
    if start.startswith(b"<"):
        return _ml
    if start.startswith(b"{"):
        return _json
    if start.startswith((b"UNA", b"UNB")):
        return _edi
    return _csv if re.match(rb'"?(DATAFLOW|STRUCTURE)\b', start) else None


@pytest.mark.parametrize("file", FILES or [None], ids=lambda file: file and str(file.relative_to(FOLDER)))
def test_public_messages(file: Path | None) -> None:
    """Each file gives the observations of the naive reading, in order and with all their values; or is refused."""
    if file is None:
        pytest.skip(f"NOT TESTED: public data messages; {VARIABLE} names no folder, and there is none at {FOLDER}")
    content = read_content(file)
    compare = _comparison_of(content)
    if compare is None:
        pytest.skip(f"{file} is not a data message")
    try:
        print(compare(file, content), "observations")
    except KafkaReplicaError as error:
        if not any(part in str(error) for part in _REFUSED):
            raise


@pytest.mark.parametrize("file", FILES or [None], ids=lambda file: file and str(file.relative_to(FOLDER)))
def test_sdmx1_agrees(file: Path | None) -> None:
    """The reader finds everything that the library sdmx1 finds in a file; sdmx1 cannot read each."""
    sdmx = pytest.importorskip("sdmx")
    if file is None:
        pytest.skip(f"NOT TESTED: public data messages; {VARIABLE} names no folder, and there is none at {FOLDER}")
    content = read_content(file)
    if _comparison_of(content) not in {_ml, _json} or len(content) > _MOST_FOR_SDMX1:
        pytest.skip("sdmx1 does not read it, or only slowly")
    if file.name.endswith(_WRONG_IN_SDMX1):
        pytest.skip("sdmx1 gives observations that are outside of series the key of a series")
    theirs = _read_by_sdmx1(sdmx, content)
    if theirs is None:
        pytest.skip("sdmx1 cannot read it")
    try:
        found = _rows(file)
    except KafkaReplicaError as error:
        pytest.skip(f"it is refused: {error}")
    by_key: dict[tuple[str, ...], dict[tuple[str, ...], Row]] = {}
    for row in theirs:
        names = tuple(row)
        if names not in by_key:
            by_key[names] = {}
            for one in found:
                by_key[names].setdefault(tuple(str(one.get(name)) for name in names), one)
        assert tuple(row.values()) in by_key[names], row


def _read_by_sdmx1(sdmx: Any, content: bytes) -> list[Row] | None:
    """Return the keys and attributes of observations as sdmx1 reads them; None if it cannot read the file."""
    for more in ({}, {"structure": sdmx.model.v21.DataStructureDefinition(id="D")}):
        try:
            message = sdmx.read_sdmx(io.BytesIO(content), **more)
            return [
                {name: _value(value) for name, value in {**_attached(one), **one.key.values}.items()}
                for data_set in message.data
                for one in data_set.obs
            ]
        except Exception:  # noqa: BLE001 - it raises many kinds
            continue
    return None


def _attached(observation: Any) -> Row:
    series = {} if observation.series_key is None else observation.series_key.attrib
    return {**series, **observation.attached_attribute}


def _value(value: Any) -> str:
    inner = getattr(value, "value", value)
    return str(getattr(inner, "id", inner))


@pytest.mark.parametrize("name", OWN)
def test_own_messages(name: str, tmp_path: Path) -> None:
    """The messages that the project writes for its tests pass the same comparison."""
    suffix, made = OWN[name]
    file = tmp_path / f"message.{suffix}"
    file.write_bytes(made())
    compare = _comparison_of(file.read_bytes())
    assert compare is not None
    assert compare(file, file.read_bytes()) == 3


def test_the_comparison_can_fail(tmp_path: Path) -> None:
    """A value that only one reading has is noticed, in each format."""
    series = b'<Series A="1"><Obs TIME_PERIOD="2000" OBS_VALUE="1"/></Series>'
    base = b"http://www.SDMX.org/resources/SDMXML/schemas/v2_0/message"
    message = b'<CompactData xmlns="%s"><DataSet>%%s</DataSet></CompactData>' % base
    file = tmp_path / "m.xml"
    file.write_bytes(message % series)
    assert _ml(file, message % series) == 1
    with pytest.raises(AssertionError, match="not found"):
        _ml(file, message % series.replace(b'VALUE="1"', b'VALUE="2"'))
    table = b"DATAFLOW,A,OBS_VALUE\nT:F(1.0),x,1\n"
    file.write_bytes(gzip.compress(table))
    assert _csv(file, table) == 1
    with pytest.raises(AssertionError):
        _csv(file, table.replace(b"x", b"y"))
