"""CSV files in parts: the same rows and lines whatever the size of the parts, and bounded memory."""

from __future__ import annotations

import gzip
import threading
import zipfile
from pathlib import Path
from unittest import mock

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.decompression import DecompressedContent
from kafka_replica.data.polars.datasets import csv_chunks
from kafka_replica.data.polars.datasets.reading import open_plain_csv
from support.effort import examples

_CELLS = st.text('a,;" \n\u00e9\U0001f600', max_size=4)
_ROWS = st.lists(st.tuples(st.lists(_CELLS, min_size=1, max_size=4), st.integers(0, 2)), max_size=8)


def _written(cells: list[str], line_end: str) -> str:
    return ",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in cells) + line_end


@settings(max_examples=examples(300), deadline=None)
@given(
    _ROWS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    st.integers(1, 40), st.booleans(),
)  # fmt: skip
@pytest.mark.thorough
def test_any_size_of_parts(
    rows: list[tuple[list[str], int]], line_end: str, encoding: str, size: int, with_end: bool
) -> None:
    """Cells, lines and rows with a wrong number of cells do not depend on where the parts of a file end."""
    text = line_end * 2 + f"A,B{line_end}"
    lines, values, wrong = [], [], []
    for cells, blank in rows:
        lines.append(text.count("\n") + 1)
        record = _written(cells, line_end)
        if len(cells) == 2:
            values.append(tuple(cell or None for cell in cells))
        else:
            wrong.append((len(values), lines[-1], len(cells), record.removesuffix(line_end)))
            values.append((None, None))
        text += record + line_end * blank
    content = (text if with_end else text.rstrip("\r\n")).encode(encoding)
    table = open_plain_csv(Path("x.csv"), content=content, size=size)
    batches = list(table.batches())
    assert [row for batch in batches for row in batch.values.rows()] == values
    assert [line for batch in batches for line in batch.lines] == lines
    before, found = 0, []
    for batch in batches:
        found += [(before + row.at, row.line, row.cells, row.text) for row in batch.wrong]
        before += batch.cells.height
    assert found == wrong
    assert table.done == len(content)
    assert [batch.cells.rows() for batch in table.batches()] == [batch.cells.rows() for batch in batches]


def test_packed_content_is_read_in_parts(tmp_path: Path) -> None:
    """The parts of gzip and zstd with several members, and of files in an archive, are those of the content."""
    data = b"A,B\n" + b"".join(b"%d,%d\n" % (number, -number) for number in range(5000))
    zstd = bytes(cramjam.zstd.compress(data[:7])) + bytes(cramjam.zstd.compress(data[7:]))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(data[:7]) + gzip.compress(data[7:]) + b"\0\0")
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", data)
        archive.writestr("y.csv.gz", gzip.compress(data))
        archive.writestr("z.csv.zst", zstd)
    (tmp_path / "x.csv.zst").write_bytes(zstd)
    inner = [f"{tmp_path / 'x.zip'}!/{name}" for name in ("x.csv", "y.csv.gz", "z.csv.zst")]
    for path in (tmp_path / "x.csv.gz", tmp_path / "x.csv.zst", *inner):
        parts = DecompressedContent(str(path), None, 1000)
        found = list(parts)
        assert b"".join(found) == data
        assert max(map(len, found)) <= 1000
        assert parts.done > 1000
    packed = gzip.compress(data)
    for damaged in (packed[:-9], packed[:50] + b"\xff" * 9 + packed[59:]):
        (tmp_path / "y.csv.gz").write_bytes(damaged)
        with pytest.raises(DatasetError, match=r"truncated|damaged"):
            list(DecompressedContent(str(tmp_path / "y.csv.gz"), None, 1000))


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading stops where the content is larger than the limit."""
    monkeypatch.setattr("kafka_replica.data.files.decompression.decompression_limit", lambda _packed: 100_000)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(bytes(1_000_000)))
    (tmp_path / "x.csv.zst").write_bytes(bytes(cramjam.zstd.compress(bytes(1_000_000))))
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", bytes(1_000_000))
    for path in (tmp_path / "x.csv.gz", tmp_path / "x.csv.zst", f"{tmp_path / 'x.zip'}!/x.csv"):
        with pytest.raises(DatasetError, match="more than 100,000 bytes"):
            list(DecompressedContent(str(path), None, 1000))


def test_a_quote_that_is_not_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of a file is not collected in search of the end of a row."""
    monkeypatch.setattr(csv_chunks, "LONGEST_RECORD_BYTES", 1000)
    content = b'A,B\n1,2\n3,"x\n' + b"4,5\n" * 1000
    with pytest.raises(DatasetError, match="the row that begins on line 3 does not end"):
        list(open_plain_csv(Path("x.csv"), content=content, size=64).batches())
    for begin in (b"", b'5",5\n'):
        with pytest.raises(DatasetError, match=r"line [45]: is a quote not closed\? A cell begins with") as failed:
            list(open_plain_csv(Path("x.csv"), content=b"A,B\n" + begin + b'"1\n",2\n3,"x\n4,5\n4,5').batches())
        assert f"line {4 + len(begin) // 5}: " in str(failed.value)


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (b'"He said "hi" today",1', 4), (b'1,"a" ', 4), (b'"x""y"z,1', 4), (b'"a"\rb,1', 4), (b'""a,1', 4),
        (b'"two\nlines","a"b"c"', 5), (b'"two\nlines"b,1', 4), (b'5" or 6",\n"a"b"c",1', 5),
    ],
)  # fmt: skip
def test_a_quote_that_is_not_doubled(record: bytes, line: int) -> None:
    """A quote within a quoted cell is never dropped; the error names the line."""
    content = b'A,B\n"1","2\n"\n' + record + b'\n3,"4"\n'
    with pytest.raises(DatasetError, match=f"line {line}: a quoted cell has a quote that is not doubled"):
        list(open_plain_csv(Path("x.csv"), content=content).batches())


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_doubled_quotes_and_quotes_in_other_cells_are_text(line_end: str) -> None:
    """Only a cell that begins with a quote is quoted."""
    text = line_end.join(
        ["A;B", '"He said ""hi"" today";""', '5" or 6" pipe;"two', 'lines"', '"""";"";', "", '"é";"1"']
    )
    (batch,) = open_plain_csv(Path("x.csv"), content=f"{text}{line_end}".encode()).batches()
    assert batch.values.rows() == [
        ('He said "hi" today', None), ('5" or 6" pipe', f"two{line_end}lines"), (None, None), ("é", "1"),
    ]  # fmt: skip
    assert [one.line for one in batch.wrong] == [5]


_STRAYS = ['5" b', 'c "d" e', 'z"', 'a""b', "'", '\u00e9"', "q"]
_WRITTEN = ["", "f", '"q"', '"x,""y"""', '"l\nm"', '"\u00e9\n"', *_STRAYS]


def _value(cell: str) -> str | None:
    return (cell[1:-1].replace('""', '"') if cell.startswith('"') else cell) or None


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.sampled_from(_WRITTEN), min_size=1, max_size=3), st.sampled_from(_STRAYS))),
    st.sampled_from(["\n", "\r\n"]), st.sampled_from([",", ";"]), st.integers(1, 60), st.integers(2, 9),
)  # fmt: skip
@pytest.mark.thorough
def test_stray_quotes_end_no_row(
    rows: list[tuple[list[str], str]], line_end: str, separator: str, size: int, most: int
) -> None:
    """Quotes in cells that do not begin with one are letters, wherever the parts of a file end."""
    cells = [[stray, *row] for row, stray in rows]
    texts = [separator.join(row) for row in cells]
    content = "".join(f"{text}{line_end}" for text in ["A,B,C".replace(",", separator), *texts]).encode()
    with mock.patch.object(csv_chunks, "MOST_LINES", most):
        batches = list(open_plain_csv(Path("x.csv"), content=content, size=size).batches())
    is_wrong = [len(row) != 3 for row in cells]
    found = [row for batch in batches for row in batch.values.rows()]
    assert found == [
        (None,) * 3 if wrong else tuple(map(_value, row)) for row, wrong in zip(cells, is_wrong, strict=True)
    ]
    begins = [2 + "".join(f"{text}\n" for text in texts[:at]).count("\n") for at in range(len(texts))]
    assert [line for batch in batches for line in batch.lines] == begins
    wrong_texts = [text for text, wrong in zip(texts, is_wrong, strict=True) if wrong]
    assert [one.text for batch in batches for one in batch.wrong] == wrong_texts


def test_two_stray_quotes_lose_no_rows() -> None:
    """Rows between two quotes, far from each other and in different columns, are read."""
    content = b'A,B\n5" pipe,1\n' + b"x,2\n" * 5000 + b'y,6" tube\n' + b"x,3\n" * 10
    (batch,) = open_plain_csv(Path("x.csv"), content=content).batches()
    assert batch.values.rows()[:2] == [('5" pipe', "1"), ("x", "2")]
    assert batch.values.rows()[5001:5003] == [("y", '6" tube'), ("x", "3")]
    assert batch.cells.height == 5012
    assert not batch.wrong


def test_a_stray_quote_before_the_line_end() -> None:
    """The line end CR LF is not a part of the cell, and one quote does not hold back the rows that follow."""
    content = b'A,B\r\n1,5"\r\n' + b"x,2\r\n" * 3000
    table = open_plain_csv(Path("x.csv"), content=content, size=100)
    with mock.patch.object(csv_chunks, "LONGEST_RECORD_BYTES", 1000):
        rows = [row for batch in table.batches() for row in batch.values.rows()]
    assert rows == [("1", '5"'), *[("x", "2")] * 3000]


@given(st.lists(st.sampled_from(["a,b\n", '"\n\n\n\n\n\n\n",x\n', '"""",\n']), max_size=40))
def test_a_part_has_few_lines(records: list[str]) -> None:
    """A part has no more lines than allowed, unless it is a single record with more; parts are whole records."""
    text = "".join(records).encode()
    with mock.patch.object(csv_chunks, "MOST_LINES", 5):
        parts = list(csv_chunks._parts(text))
    assert b"".join(part for part, _ in parts) == text
    known = {record.encode() for record in records}
    for part, lines in parts:
        assert part.count(b"\n") == lines
        assert lines <= 5 or part in known
        assert part.count(b'"') % 2 == 0


@pytest.mark.thorough
def test_progress_in_zstd(tmp_path: Path) -> None:
    """The number of bytes done grows with the parts of a file in zstd, and ends with its size."""
    lines = "".join(f"{number},{number * number}\n" for number in range(200_000)).encode()
    file = tmp_path / "x.csv.zst"
    file.write_bytes(bytes(cramjam.zstd.compress(lines)))
    parts = DecompressedContent(str(file), None, 1 << 16)
    done = [parts.done for _ in parts]
    size = file.stat().st_size
    assert done == sorted(done)
    assert 0.4 * size < done[len(done) // 2] < 0.6 * size
    assert parts.done == size


@pytest.mark.thorough
def test_the_rest_of_zstd_is_not_decompressed(tmp_path: Path) -> None:
    """The thread that decompresses ends when the parts are not read to their end."""
    file = tmp_path / "x.csv.zst"
    file.write_bytes(bytes(cramjam.zstd.compress(bytes(50_000_000))))
    parts = iter(DecompressedContent(str(file), None, 1000))
    assert next(parts) == bytes(1000)
    assert any(one.name == "kafka-replica-zstd" for one in threading.enumerate())
    del parts
    assert not any(one.name == "kafka-replica-zstd" for one in threading.enumerate())
