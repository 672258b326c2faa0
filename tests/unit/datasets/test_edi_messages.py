"""SDMX-EDI data messages as rows: periods, attributes of all levels, deletions, structures, and damaged messages."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import (
    data_message_rows,
    located_blocks,
    read_data_message,
    structure_named_in,
)
from kafka_replica.data.jobs import sources_of
from kafka_replica.data.polars import split, validate
from kafka_replica.data.validation import Rules
from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.edi.reading import syntax
from support.paths import SDMX_DATA
from support.rules.structures_by_hand import (
    FLOWS,
    attribute,
    dimension,
    group,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)  # fmt: skip

_ATTRIBUTES = [attribute(one) for one in ("OBS_STATUS", "OBS_CONF", "OBS_PRE_BREAK", "OBS_COM")]
STRUCTURE = structure(
    *(dimension(one, text()) for one in ("FREQ", "AREA", "ITEM")),
    time(),
    group("Sibling", "AREA", "ITEM"),
    measure(),
    attribute("TIME_FORMAT", to="FREQ,AREA,ITEM"),
    attribute("TITLE", to="GROUP:Sibling"),
    attribute("UNIT", to="FREQ,AREA,ITEM"),
    attribute("SOURCE", to="DATASET"),
    *_ATTRIBUTES,
)


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of T:D(1.0)."""
    return rules_of(version_of(STRUCTURE, FLOWS))


def edi(*lines: str, action: str = "7", structure: str = "D", advice: str = "UNA:+.? '") -> bytes:
    """Return an interchange with a data set of these segments, each on its own line."""
    opening = [
        "UNB+UNOC:3+BE2+4F0+970926:1948+IREF1++SDMX-EDI", "UNH+MREF1+GESMES:2:1:E6", "BGM+74", "NAD+Z02+T",
        "NAD+MR+4F0", "NAD+MS+BE2", "IDE+10+a test", "DSI+DATA", f"STS+3+{action}", "DTM+242:199709261948:203",
        f"IDE+5+{structure}", "GIS+AR3", "GIS+1:::-",
    ]  # fmt: skip
    closing = ["UNT+20+MREF1", "UNZ+1+IREF1"]
    return "".join([advice, "\n", *(f"{line}'\n" for line in (*opening, *lines, *closing))]).encode()


def rows_in(data: bytes, tmp_path: Path, rules: Rules | None) -> list[dict[str, Any]]:
    """Return the rows without structure, action and time format, and without components that have no value."""
    file = tmp_path / "data.edi"
    file.write_bytes(data)
    left_out = {"STRUCTURE", "STRUCTURE_ID", "ACTION", "TIME_FORMAT"}
    rows = read_data_message(file, rules)
    return [{n: v for n, v in row.items() if v is not None and n not in left_out} for row in rows]


KEY = {"FREQ": "M", "AREA": "BE", "ITEM": "X"}


@pytest.mark.thorough
def test_same_rows_as_sdmx_ml(rules: Rules, tmp_path: Path) -> None:
    """A message with attributes at all levels gives the rows that the same data gives in SDMX-ML 2.0 compact."""
    message = edi(
        "ARR++M:BE:X:199611199701:710:2.510:A+-:M+-0.3:B:C:12", "ARR++M:BE:Y:199611:610:7",
        "FNS+Attributes:10", "REL+Z01+1", "ARR+0", "IDE+Z11+SOURCE", "FTX+ACM+++a bank?'s: own?+ data",
        "REL+Z01+4", "ARR+3+:BE:X", "IDE+Z11+TITLE", "FTX+ACM+++First ", "FTX+ACM+++part", "ARR+3+M:BE:Y",
        "IDE+Z10+UNIT", "CDV+EUR", "REL+Z01+5", "ARR+5+M:BE:X:199612:610", "IDE+Z11+OBS_COM", "FTX+ACM+++why",
    )  # fmt: skip
    old = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0/message"
    ml = (
        f'<CompactData xmlns="{old}" xmlns:d="urn:d"><Header><ID>t</ID><KeyFamilyRef>D</KeyFamilyRef><KeyFamilyAgency>T'
        "</KeyFamilyAgency><DataSetAction>Append</DataSetAction></Header>"
        '<d:DataSet SOURCE="a bank\'s own+ data"><d:Group AREA="BE" ITEM="X" TITLE="First part"/>'
        '<d:Series FREQ="M" AREA="BE" ITEM="X" TIME_FORMAT="P1M">'
        '<d:Obs TIME_PERIOD="1996-11" OBS_VALUE="2.510" OBS_STATUS="A"/>'
        '<d:Obs TIME_PERIOD="1996-12" OBS_VALUE="NaN" OBS_STATUS="M" OBS_COM="why"/>'
        '<d:Obs TIME_PERIOD="1997-01" OBS_VALUE="-0.3" OBS_STATUS="B" OBS_CONF="C" OBS_PRE_BREAK="12"/></d:Series>'
        '<d:Series FREQ="M" AREA="BE" ITEM="Y" TIME_FORMAT="P1M" UNIT="EUR">'
        '<d:Obs TIME_PERIOD="1996-11" OBS_VALUE="7"/></d:Series></d:DataSet></CompactData>'
    )
    (tmp_path / "data.edi").write_bytes(gzip.compress(message))
    (tmp_path / "data.xml").write_text(ml)
    found = [read_data_message(tmp_path / name, rules) for name in ("data.edi", "data.xml")]
    first, second = ([{n: v for n, v in row.items() if v is not None} for row in rows] for rows in found)
    assert first == second
    assert len(first) == 4
    good, bad = split(validate(found[0], rules))
    assert (good.height, bad.height) == (4, 0), bad


@pytest.mark.parametrize(
    ("digits", "code", "expected"),
    [
        ("1996", "602", ["1996"]), ("19962", "604", ["1996-S2"]), ("19964", "608", ["1996-Q4"]),
        ("199612", "610", ["1996-12"]), ("199653", "616", None), ("199852", "616", ["1998-W52"]),
        ("19960229", "102", ["1996-02-29"]), ("199602291530", "203", ["1996-02-29T15:30:00"]),
        ("19951997", "702", ["1995", "1996", "1997"]), ("1995219962", "704", ["1995-S2", "1996-S1", "1996-S2"]),
        ("1995419961", "708", ["1995-Q4", "1996-Q1"]),
        ("199511199602", "710", ["1995-11", "1995-12", "1996-01", "1996-02"]),
        ("1996022819960301", "711", ["1996-02-28", "1996-02-29", "1996-03-01"]),
        ("199852199902", "716", ["1998-W52", "1998-W53", "1999-W01", "1999-W02"]),
        ("199613", "610", None), ("19955", "608", None), ("19950229", "102", None), ("199610199601", "710", None),
        ("1996", "610", None), ("1996", "999", None), ("0000", "602", None), ("199٣", "602", None),
        ("0001010199991231", "711", None),
    ],
)  # fmt: skip
def test_each_edi_time_format_gives_sdmx_periods(
    digits: str, code: str, expected: list[str] | None, rules: Rules, tmp_path: Path
) -> None:
    """Each time format gives SDMX's periods, over the ends of years and leap days; impossible periods are errors."""
    values = "+".join(map(str, range(len(expected or [1]))))
    data = edi(f"ARR++M:BE:X:{digits}:{code}:{values}")
    if expected is None:
        with pytest.raises(DatasetError, match=r"segment 14: .*time format"):
            rows_in(data, tmp_path, rules)
        return
    rows = rows_in(data, tmp_path, rules)
    assert rows == [KEY | {"TIME_PERIOD": one, "OBS_VALUE": str(at)} for at, one in enumerate(expected)]


def test_deletions_name_observations_or_series(rules: Rules, tmp_path: Path) -> None:
    """Deletions name observations, series, or all series with some values; attributes are deleted on their own."""
    data = edi(
        "ARR++M:BE:X:199611199612:710", "ARR++M:BE:Y:199611:610:-", "ARR++:BE:Z",
        "FNS+Attributes:10", "REL+Z01+4", "ARR+3+:BE:X", "IDE+Z11+TITLE", "REL+Z01+5", "ARR+5+M:BE:X:199611:610",
        "IDE+Z11+OBS_COM", action="6",
    )  # fmt: skip
    assert rows_in(data, tmp_path, rules) == [
        KEY | {"TIME_PERIOD": "1996-11"},
        KEY | {"TIME_PERIOD": "1996-12"},
        KEY | {"ITEM": "Y", "TIME_PERIOD": "1996-11"},
        {"AREA": "BE", "ITEM": "Z"},
        {"AREA": "BE", "ITEM": "X", "TITLE": "#N/A"},
        KEY | {"TIME_PERIOD": "1996-11", "OBS_COM": "#N/A"},
    ]
    actions = {row["ACTION"] for row in read_data_message(tmp_path / "data.edi", rules)}
    assert actions == {"D"}


def test_attributes_without_rows(rules: Rules, tmp_path: Path) -> None:
    """Attributes that belong to no observation of the message are rows of their own, with other dimensions off."""
    data = edi(
        "FNS+Attributes:10", "REL+Z01+1", "ARR+0", "IDE+Z10+SOURCE", "CDV+S", "REL+Z01+4", "ARR+3+:BE:X",
        "IDE+Z11+TITLE", "FTX+ACM+++t", "REL+Z01+5", "ARR+5+M:BE:X:199611:610", "IDE+Z10+OBS_CONF", "CDV+F",
    )  # fmt: skip
    off = dict.fromkeys(("FREQ", "AREA", "ITEM", "TIME_PERIOD"), "~")
    assert rows_in(data, tmp_path, rules) == [
        off | {"SOURCE": "S"},
        off | {"AREA": "BE", "ITEM": "X", "TITLE": "t", "SOURCE": "S"},
        KEY | {"TIME_PERIOD": "1996-11", "OBS_CONF": "F", "SOURCE": "S"},
    ]


_DEFINITION = [
    "UNH+M0+GESMES:2:1:E6", "BGM+73", "NAD+Z02+T", "NAD+MR+4F0", "NAD+MS+BE2", "ASI+D", "FTX+ACM+++D",
    "SCD+13+FREQ++++:1", "ATT+3+5+:::AN1", "SCD+4+AREA++++:2", "ATT+3+5+:::AN2", "SCD+4+ITEM++++:3",
    "ATT+3+5+:::AN2", "SCD+1+TIME_PERIOD++++:4", "ATT+3+5+:::AN..35", "SCD+1+TIME_FORMAT++++:5",
    "ATT+3+5+:::AN3", "SCD+3+OBS_VALUE++++:6", "ATT+3+5+:::AN..15",
]  # fmt: skip


def with_structure(data: bytes, *more: str) -> bytes:
    """Return the interchange with a message of its structure before the data, which ends with further segments."""
    before, after = data.split(b"UNH", 1)
    definition = "".join(f"{one}'\n" for one in (*_DEFINITION, *more, "UNT+9+M0"))
    return before + definition.encode() + b"UNH" + after


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["UNT+9+M0", "UNH+M9+GESMES:2:1:E6", "BGM+73", "NAD+Z02+T", "CDV+A"],
        ["NAD+MS+X", "IDE+10+x"],
    ],
    ids=["structure alone", "a code outside a codelist", "a name of the message after the structure"],
)
def test_structure_in_the_interchange(more: list[str], tmp_path: Path) -> None:
    """Without rules, the structure is that of the same interchange; without it, the error asks for rules."""
    data = edi("ARR++M:BE:X:199611:610:1")
    expected = [KEY | {"TIME_PERIOD": "1996-11", "OBS_VALUE": "1"}]
    assert rows_in(with_structure(data, *more), tmp_path, None) == expected
    with pytest.raises(DatasetError, match=r"give the rules of the structure T:D\(\*\), .* no structure message"):
        rows_in(data, tmp_path, None)
    assert structure_named_in(tmp_path / "data.edi") == ("datastructure", "T:D(*)")
    assert [source.kind for source in sources_of([str(tmp_path)])] == ["message"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["CTA+CC+:x"], r"segment 21: 'CTA\+CC\+:x' is not allowed here"),
        (["FTX+ACM+++x"], r"segment 21: 'FTX\+ACM\+\+\+x' is not allowed here"),
    ],
)
def test_the_reason_why_the_structure_in_the_interchange_is_not_read(
    more: list[str], reason: str, tmp_path: Path
) -> None:
    """The error says why the structure that the interchange contains cannot be read."""
    data = with_structure(edi("ARR++M:BE:X:199611:610:1"), *more)
    with pytest.raises(DatasetError, match=rf"the structure T:D\(\*\), because .*{reason}"):
        rows_in(data, tmp_path, None)


def test_series_of_another_structure_are_rows_with_its_name(rules: Rules, tmp_path: Path) -> None:
    """Series of a structure that the rules do not belong to are rows with its name alone."""
    (tmp_path / "data.edi").write_bytes(edi("ARR++A:B:199611:610:1", "REL+Z01+1", structure="E"))
    (row,) = read_data_message(tmp_path / "data.edi", rules)
    assert row == {"STRUCTURE": "datastructure", "STRUCTURE_ID": "T:E(*)", "ACTION": "A"}


def test_lines_and_wrapping(rules: Rules, tmp_path: Path) -> None:
    """Rows have the line of their segment, in files with records of 80 columns too, padded with blanks or not."""
    values = [f"{at}.25" for at in range(60)]
    data = edi("ARR++M:BE:X:199611:610:1", "ARR++A:BE:X:19401999:702:" + "+".join(values), "ARR++M:BE:Y:199611:610:2")
    plain = tmp_path / "plain.edi"
    plain.write_bytes(data)
    assert sorted({data_message_row.line or 0 for data_message_row in data_message_rows(plain, rules)}) == [15, 16, 17]
    expected = [data_message_row.row for data_message_row in data_message_rows(plain, rules)]
    joined = data.replace(b"\n", b"")
    for ending in (b"\n", b"\r\n", b"      \r\n"):
        wrapped = tmp_path / "wrapped.edi"
        wrapped.write_bytes(ending.join(joined[at : at + 80] for at in range(0, len(joined), 80)))
        rows = list(data_message_rows(wrapped, rules))
        assert [row.row for row in rows] == expected
        text_ = wrapped.read_bytes()
        starts = {found.start() for found in re.finditer(rb"A[\r\n ]*R[\r\n ]*R[\r\n ]*\+", text_)}
        assert {row.line for row in rows} == {1 + text_.count(b"\n", 0, at) for at in starts}


def test_a_release_sequence_over_two_lines(rules: Rules, tmp_path: Path) -> None:
    """Lines are right after a line end between a release character and what it releases."""
    data = edi("ARR++M:BE:X?':199611:610:1", "ARR++M:BE:Y:199611:610:2").replace(b"?'", b"?\n'")
    (tmp_path / "data.edi").write_bytes(data)
    found = [
        (data_message_row.line, data_message_row.row["ITEM"])
        for data_message_row in data_message_rows(tmp_path / "data.edi", rules)
    ]
    assert found == [(15, "X'"), (17, "Y")]


def test_una_defines_separators_and_decimal_mark(rules: Rules, tmp_path: Path) -> None:
    """UNA names the separators and the decimal mark; a released character is a part of its value."""
    data = edi("ARR++M:BE:X?+?:??:199611:610:1,5").replace(b"?", b"!")
    data = data.replace(b"UNA:+.! '", b"UNA:+,! '")
    assert rows_in(data, tmp_path, rules) == [KEY | {"ITEM": "X+:!", "TIME_PERIOD": "1996-11", "OBS_VALUE": "1.5"}]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["ARR++M:BE:X:199611199612:710:1"], "1 values for 2 periods"),
        (["ARR++M:BE:X:199611:610:1+2"], "2 values for 1 periods"),
        (["ARR++M:BE:199611:610:1"], "not a time format|parts"),
        (["ARR++M:BE:X:199611:610:1:A:C:1:2"], "parts"),
        (["ARR++M:BE:X:199611199612:710:1+1:A:C:1:2"], "5 parts"),
        (["ARR++M:BE:X+1"], "no period"),
        (["REL+Z01+7"], "not one of"),
        (["REL+Z01+4", "ARR+2+M:BE"], "2 parts"),
        (["REL+Z01+4", "IDE+Z10+UNIT"], "before ARR"),
        (["REL+Z01+4", "ARR+3+M:BE:X", "CDV+1"], "not the value"),
        (["STS+3+9"], "the action"),
        (["ARX++M:BE:X:199611:610:1"], "no segment 'ARX' in a data set, .* did you mean 'ARR'"),
        (["arr++M:BE:X:199611:610:1"], "no segment 'arr' in a data set, .* did you mean 'ARR'"),
        (["FTX+ACM+++text"], "no segment 'FTX' in a data set"),
        (["IDE+Z10+UNIT"], r"IDE\+Z10 in a data set before its attributes"),
        (["FNX+Attributes:10"], "no segment 'FNX' in a data set, .* did you mean 'FNS'"),
        (["FNS+Attributes:10", "REX+Z01+4"], "no segment 'REX' among the attributes .* did you mean 'REL'"),
        (["FNS+Attributes:10", "ARR+3+M:BE:X"], "ARR of attributes before REL"),
        (["REL+Z01+4", "ARR+3+M:BE:X", "IDE+Z10+UNIT", "CDX+EUR"], "no segment 'CDX' among .* did you mean 'CDV'"),
        (["REL+Z01+4", "ARR+3+M:BE:X", "IDE+Z12+UNIT"], r"IDE\+Z12 among attributes"),
        (["REL+Z01+4", "STS+3+6"], "no segment 'STS' among the attributes"),
        (["FNS+Attributes:10", "ARR++M:BE:X:199611:610:1"], "ARR of attributes before REL"),
        (["UNT+14+MREF1", "UNH+MREF2+GESMES:2:1:E6", "BGM+74", "DSX+DATA"], "no segment 'DSX' before DSI, .*'DSI'"),
        (["UNT+14+MREF1", "UNH+MREF2+GESMES:2:1:E6", "BGN+74"], "BGN before BGM"),
        (["UNT+14+MREF1", "UNH+MREF2+GESMES:2:1:E6", "BGM+73", "DSI+DATA"], r"DSI in a message with BGM\+73"),
    ],
)  # fmt: skip
def test_errors_name_the_segment(lines: list[str], reason: str, rules: Rules, tmp_path: Path) -> None:
    """An error names the segment that does not fit the structure or the standard."""
    with pytest.raises(DatasetError, match=rf"data\.edi: reading SDMX-EDI, segment {13 + len(lines)}: .*({reason})"):
        rows_in(edi(*lines), tmp_path, rules)


@pytest.mark.thorough
def test_a_truncated_message_is_an_error(rules: Rules, tmp_path: Path) -> None:
    """A message that is cut off anywhere is an error, never fewer rows."""
    data = edi("ARR++M:BE:X:199611199612:710:1+2", "REL+Z01+1", "ARR+0", "IDE+Z10+SOURCE", "CDV+S")
    for end in range(3, len(data) - 2):
        with pytest.raises(DatasetError):
            rows_in(data[:end], tmp_path, rules)


@pytest.mark.thorough
def test_deletions_are_limited(rules: Rules, tmp_path: Path) -> None:
    """Many deletions of long ranges do not fill the memory."""
    lines = ["ARR++D:BE:X:1900010120991231:711"] * 20
    with pytest.raises(DatasetError, match="more than 1,000,000 deletions"):
        rows_in(edi(*lines, action="6"), tmp_path, rules)


def test_data_have_no_limit_of_segments(rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data are read however many segments there are; structures, which are kept in memory, are not."""
    monkeypatch.setattr(syntax, "_MAX_SEGMENTS", 10)
    assert len(rows_in(edi(*(f"ARR++M:BE:X{number}:199611:610:1" for number in range(30))), tmp_path, rules)) == 30
    structures = Path(SDMX_DATA / "structures.edi").read_bytes()
    with pytest.raises(MessageError, match="segment 11: more than 10 segments"):
        read_message(structures)


def _notes_of(data: bytes, tmp_path: Path, rules: Rules) -> list[str]:
    file = tmp_path / "data.edi"
    file.write_bytes(data)
    notes: list[str] = []
    for _ in located_blocks(file, rules, note=notes.append):
        pass
    return notes


def test_wrong_numbers_of_segments_and_messages_are_noted(rules: Rules, tmp_path: Path) -> None:
    """A wrong number in UNT or UNZ is a note, because real messages have wrong ones; the rows are read."""
    data = edi("ARR++M:BE:X:199611:610:1", "REL+Z01+1", "ARR+0", "IDE+Z10+SOURCE", "CDV+S").replace(
        b"UNT+20", b"UNT+18"
    )
    assert _notes_of(data, tmp_path, rules) == []
    wrong = data.replace(b"UNT+18", b"UNT+99").replace(b"UNZ+1", b"UNZ+2")
    segments, messages = _notes_of(wrong, tmp_path, rules)
    assert re.match(
        "segment 19: UNT states '99' as the number of segments of its message, .* but 18 were read", segments
    )
    assert re.match("segment 20: UNZ states '2' as the number of messages .* but 1 were read", messages)
    assert rows_in(wrong, tmp_path, rules) == rows_in(data, tmp_path, rules) != []
    grouped = data.replace(b"UNH+", b"UNG+GESMES'UNH+").replace(b"UNZ", b"UNE+1'UNZ").replace(b"UNZ+1", b"UNZ+7")
    assert _notes_of(grouped, tmp_path, rules) == []


def test_contacts_and_times_are_no_errors(rules: Rules, tmp_path: Path) -> None:
    """Every segment that the standard has in messages of data is accepted at its place."""
    data = edi("ARR++M:BE:X:199611:610:1")
    contacts = b"CTA+CF+IS:Mr Smith'COM+0049 69 13440:TE'"
    data = data.replace(b"DSI+", contacts + b"DSI+").replace(b"IDE+5", b"DTM+Z02:199611199611:710'IDE+5")
    assert rows_in(data, tmp_path, rules) == [KEY | {"TIME_PERIOD": "1996-11", "OBS_VALUE": "1"}]
