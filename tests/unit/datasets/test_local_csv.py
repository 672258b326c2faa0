"""SDMX-CSV with polars: reading, refusing and writing according to the field guides."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import names_of, usages_of
from kafka_replica.data.jobs import sources_of
from kafka_replica.data.polars import validate
from kafka_replica.data.polars.datasets import read_sdmx_csv, rows_of, structures_in, write_sdmx_csv
from kafka_replica.data.polars.datasets.reading import open_sdmx_csv, read_plain_csv
from kafka_replica.data.polars.datasets.structure_selection import split_by_structure
from kafka_replica.data.validation import generate_rows
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures
from support.datasets.csv_cases import (
    CSV_CASES,
    MEANT,
    PLAIN_CSV,
    SAYING,
    WRONG_HEADERS,
    WRONG_WORDS,
    CsvCase,
    world,
    world_rules,
)
from support.rules.structures_by_hand import AGREEMENT, DSD, FLOW, findings_of_rows, rules_of


def plain(value: Any) -> Any:
    """Return lists of languages and texts as dictionaries."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {one["language"]: one["text"] for one in value}
    return [plain(one) for one in value] if isinstance(value, list) else value


def rows_in(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dictionaries."""
    return [{name: plain(value) for name, value in row.items()} for row in frame.to_dicts()]


@pytest.mark.parametrize("case", CSV_CASES, ids=[case.name for case in CSV_CASES])
def test_each_csv_file_gives_the_rows_of_the_field_guide(case: CsvCase, tmp_path: Path) -> None:
    """Each file gives the rows that the field guide states."""
    file = tmp_path / "data.csv"
    file.write_bytes(case.data)
    rules = world_rules() if case.with_rules else None
    assert rows_in(read_sdmx_csv(file, rules=rules, **case.settings)) == case.rows


def test_a_missing_column_of_names_is_an_error(tmp_path: Path) -> None:
    """Without the column of names of a component, the component after it would be taken for that column."""
    file = tmp_path / "data.csv"
    file.write_text("STRUCTURE;STRUCTURE_ID;STRUCTURE_NAME;ACTION;DIM_1;One;TIME_PERIOD;OBS_VALUE\n")
    with pytest.raises(DatasetError, match="TIME_PERIOD is followed by the component OBS_VALUE"):
        read_sdmx_csv(file, rules=world_rules())


@pytest.mark.parametrize("separator", ['"', "\n", "¦", ";;"])
def test_a_separator_is_one_ascii_character(separator: str, tmp_path: Path) -> None:
    """A separator that polars does not support is an error of the package."""
    file = tmp_path / "data.csv"
    file.write_text("STRUCTURE,STRUCTURE_ID\n")
    with pytest.raises(DatasetError, match="cannot separate cells"):
        read_sdmx_csv(file, separator=separator)


@pytest.mark.parametrize(("name", "data", "expected_text"), WRONG_HEADERS, ids=[name for name, _, _ in WRONG_HEADERS])
def test_a_file_that_is_not_sdmx_csv_is_refused(name: str, data: str, expected_text: str, tmp_path: Path) -> None:
    """A file that is not SDMX-CSV is refused; the error names the file and the reason."""
    file = tmp_path / "data.csv"
    file.write_text(data)
    with pytest.raises(DatasetError, match=expected_text) as error:
        read_sdmx_csv(file)
    assert str(file) in str(error.value)


def test_names_need_rules(tmp_path: Path) -> None:
    """Without rules, names are refused: the file does not say which cells are codes, so nothing is guessed."""
    file = tmp_path / "data.csv"
    file.write_text("STRUCTURE,STRUCTURE_ID,NOTE: A note\ndataflow,T:F(1.0),Nota: bene\n")
    with pytest.raises(UsageError, match="give the rules"):
        read_sdmx_csv(file)


@pytest.mark.parametrize("row", ["dataflow,T:F(1.0)", "dataflow,T:F(1.0),A,B", '"dataflow","T:F(1.0)"'])
def test_rows_of_other_lengths(row: str, tmp_path: Path) -> None:
    """A row that is too short or too long is refused with its line; polars alone would fill short rows up."""
    file = tmp_path / "data.csv"
    file.write_text(f"STRUCTURE,STRUCTURE_ID,DIM_1\ndataflow,T:F(1.0),A\n{row}\n")
    with pytest.raises(DatasetError, match="line 3"):
        read_sdmx_csv(file)


def test_a_component_called_self(tmp_path: Path) -> None:
    """Names of components are never taken for names of arguments."""
    file = tmp_path / "data.csv"
    file.write_text("STRUCTURE,STRUCTURE_ID,self\ndatastructure,T:D(1.0),1\n")
    assert read_sdmx_csv(file)["self"].to_list() == ["1"]


def test_an_encoding_other_than_utf_8_is_refused(tmp_path: Path) -> None:
    """An encoding other than UTF-8 is refused and not guessed."""
    file = tmp_path / "data.csv"
    file.write_bytes(b"STRUCTURE,STRUCTURE_ID,NOTE\ndataflow,T:F(1.0),\xe9\n")
    with pytest.raises(DatasetError, match="it is not utf-8"):
        read_sdmx_csv(file)


def test_several_structures_in_several_files(tmp_path: Path) -> None:
    """Rows of several structures are distinguished; files with different columns are combined; gzip and UTF-16 work."""
    (tmp_path / "a.csv").write_bytes(
        "STRUCTURE,STRUCTURE_ID,DIM_1\ndataflow,T:F(1.0),A\ndatastructure,T:D,B\n".encode("utf-16")
    )
    rest = b"STRUCTURE,STRUCTURE_ID,NOTE\ndataflow,T:OTHER(1.0),x\ndataprovision,T:PA(1.0),y\ndataflow,T:F(2.0),z\n"
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(rest))
    frame = read_sdmx_csv(tmp_path)
    assert frame.columns == ["STRUCTURE", "STRUCTURE_ID", "DIM_1", "NOTE"]
    found = [f"{urn.cls} {urn.reference}" for urn in structures_in(frame)]
    assert found == [
        "DataStructure T:D(*)", "Dataflow T:F(1.0)", "Dataflow T:F(2.0)", "Dataflow T:OTHER(1.0)",
        "ProvisionAgreement T:PA(1.0)",
    ]  # fmt: skip
    assert rows_of(frame, world_rules())["DIM_1"].to_list() == ["A", "B"]
    _, others = split_by_structure(pl.concat([frame, frame[2:3]]), world_rules(), ())
    assert [(urn.reference, count) for urn, count in others.items()] == [
        ("T:F(2.0)", 1), ("T:OTHER(1.0)", 2), ("T:PA(1.0)", 1),
    ]  # fmt: skip
    odd = frame.with_columns(STRUCTURE=pl.lit("cube"))
    with pytest.raises(DatasetError, match="the kind of the structure is 'cube'"):
        structures_in(odd)


@pytest.mark.parametrize(("artefact", "with_usages", "meant"), MEANT)
def test_rows_that_are_meant(artefact: str, with_usages: bool, meant: list[int]) -> None:
    """Structures decide which rows use a data structure; rows of 1.0 are treated like those of 2.0."""
    rules = rules_of(world(), artefact)
    usages = usages_of(Structures(world()), rules) if with_usages else ()
    frame = pl.DataFrame(SAYING, infer_schema_length=None).with_row_index("ROW")
    assert rows_of(frame, rules, usages)["ROW"].to_list() == meant


@pytest.mark.parametrize("labels", ["id", "both", "name"])
@pytest.mark.parametrize("keys", ["none", "both"])
def test_written_and_read_again(labels: Any, keys: Any, tmp_path: Path) -> None:
    """A written frame is read back unchanged, with labels next to ids, and with unusual texts."""
    rules = world_rules()
    frame = read_sdmx_csv(_rich(tmp_path), rules=rules)
    file = tmp_path / "written.csv"
    write_sdmx_csv(
        frame, file, rules, labels=labels, keys=keys, names=names_of(Structures(world()), rules.artefact),
        separator=";", sub_separator="|",
    )  # fmt: skip
    header = file.read_text().partition("\n")[0]
    assert header.startswith("STRUCTURE[|];STRUCTURE_ID;")
    assert ("SERIES_KEY;OBS_KEY" in header) == (keys == "both")
    assert {"ATTR_2[en|fr|und]", "ATTR_3[][de|en|fr]"} <= {cell.partition(":")[0] for cell in header.split(";")}
    again = read_sdmx_csv(file, rules=rules).select(frame.columns)
    assert rows_in(again) == rows_in(frame)


@pytest.mark.parametrize(
    ("header", "row", "findings"),
    [
        ("ACTION,SERIES_KEY", "D,A.B", ["deletion-wide SERIES_KEY A.B"]),
        ("ACTION,SERIES_KEY,OBS_KEY,DIM_1,DIM_2", "D,A.B,A.B.2014,A,B", ["deletion-wide OBS_KEY A.B.2014"]),
        ("ACTION,SERIES_KEY,DIM_1,DIM_2", "D,A.B,A,B", []),
        ("SERIES_KEY,DIM_1", "A.B,A", ["deletion-wide SERIES_KEY A.B"]),
    ],
)
def test_a_deletion_is_not_wider_than_its_key(header: str, row: str, findings: list[str], tmp_path: Path) -> None:
    """Keys of deletions are read, so that a row which names its series only by its key is found."""
    rules = rules_of(world(), FLOW, action="delete")
    file = tmp_path / "data.csv"
    file.write_text(f"STRUCTURE,STRUCTURE_ID,{header}\ndataflow,T:F(1.0),{row}\n")
    assert findings_of_rows(validate(read_sdmx_csv(file, rules=rules), rules)) == [findings]


def test_the_language_of_texts_with_a_colon_is_kept(tmp_path: Path) -> None:
    """A text without a language that begins like one with a language is written with the mark of no language."""
    texts = [{"language": "und", "text": text} for text in ("Source: Eurostat", "plain")]
    frame = pl.DataFrame([{"DIM_1": "A", "ATTR_2": [text]} for text in texts])
    file = tmp_path / "data.csv"
    write_sdmx_csv(frame, file, world_rules())
    assert [line.rpartition(",")[2] for line in file.read_text().splitlines()[1:]] == ["und:Source: Eurostat", "plain"]
    assert read_sdmx_csv(file, rules=world_rules())["ATTR_2"].to_list() == [[text] for text in texts]


def _rich(folder: Path) -> Path:
    file = folder / "rich.csv"
    file.write_text(
        "STRUCTURE[;],STRUCTURE_ID,ACTION,DIM_1,DIM_2,TIME_PERIOD,OBS_VALUE,ATTR_1[],ATTR_2[en;fr],ATTR_3[][en;fr],NOTE,OWN\n"
        'dataflow,T:F(1.0),M,A,B,2014,1.5,X;Y,en:a|b;fr:c,"""en:a;fr:b|"";de:x"," Nota: ""bene"",",1\n'
        'dataflow,T:F(1.0),R,A,X,2014,-2,A,"fr:""x""; y",,"a|;b",2\n'
        "dataflow,T:F(1.0),D,B,,,,,,,,3\n"
    )
    return file


@pytest.mark.parametrize(
    ("frame", "rows"),
    [
        (pl.DataFrame(), 0), (pl.DataFrame(schema={"STRUCTURE": pl.String}), 0), (pl.DataFrame({"_errors": [1, 2]}), 2),
        (pl.DataFrame({"STRUCTURE_ID": ["T:F(1.0)"] * 3}), 3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keys", ["none", "both"])
def test_frames_without_components(frame: pl.DataFrame, rows: int, keys: Any, tmp_path: Path) -> None:
    """The file has as many rows as the frame: one more with the action delete would delete all data."""
    file = tmp_path / "data.csv"
    write_sdmx_csv(frame, file, world_rules(), action="delete", keys=keys)
    assert len(file.read_text().splitlines()) == 1 + rows


def test_version_1_has_no_place_for_several_values(tmp_path: Path) -> None:
    """Version 1.0 is written where possible; for several values the error says what to do."""
    rules = world_rules()
    rows = [{"DIM_1": "A", "DIM_2": "B", "TIME_PERIOD": "2014", "OBS_VALUE": 1.0, "_errors": None}]
    file = tmp_path / "data.csv"
    write_sdmx_csv(pl.DataFrame(rows), file, rules, version="1.0")
    assert file.read_text() == "DATAFLOW,DIM_1,DIM_2,TIME_PERIOD,OBS_VALUE\nT:F(1.0),A,B,2014,1\n"
    with pytest.raises(UsageError, match="several values in ATTR_1; write version"):
        write_sdmx_csv(pl.DataFrame([{"DIM_1": "A", "ATTR_1": ["A"]}]), file, rules, version="1.0")


@pytest.mark.parametrize("action", ["D", "delete", "R"])
def test_version_1_has_no_actions(action: str, tmp_path: Path) -> None:
    """Version 1.0 omits the action information, and refuses others: a deletion must not become information."""
    rows = [{"DIM_1": "A", "ACTION": "I"}, {"DIM_1": "A", "ACTION": None}]
    file = tmp_path / "data.csv"
    write_sdmx_csv(pl.DataFrame(rows), file, world_rules(), version="1.0")
    assert file.read_text() == "DATAFLOW,DIM_1\nT:F(1.0),A\nT:F(1.0),A\n"
    with pytest.raises(UsageError, match="a row has an action other than information"):
        write_sdmx_csv(pl.DataFrame([*rows, {"DIM_1": "B", "ACTION": action}]), file, world_rules(), version="1.0")


@pytest.mark.parametrize(("artefact", "expected_text"), [(DSD, "DataStructure"), (AGREEMENT, "ProvisionAgreement")])
def test_version_1_is_of_dataflows(artefact: str, expected_text: str, tmp_path: Path) -> None:
    """Version 1.0 is written for dataflows only: its single structure column is DATAFLOW."""
    with pytest.raises(UsageError, match=f"rows of a {expected_text}, only of a Dataflow; write version 2.0"):
        write_sdmx_csv(pl.DataFrame({"DIM_1": ["A"]}), tmp_path / "x.csv", rules_of(world(), artefact), version="1.0")


@pytest.mark.parametrize(("words", "expected_text"), WRONG_WORDS)
def test_an_invalid_choice_is_refused_with_the_valid_ones(
    words: dict[str, Any], expected_text: str, tmp_path: Path
) -> None:
    """The error for an invalid value of an argument lists the valid values."""
    with pytest.raises(UsageError, match=expected_text):
        write_sdmx_csv(pl.DataFrame({"DIM_1": ["A"]}), tmp_path / "x.csv", world_rules(), **words)


@pytest.mark.parametrize("decimal", ["", "..", "7", "-"])
def test_a_decimal_separator_is_one_character(decimal: str, tmp_path: Path) -> None:
    """A decimal separator must be one character: an empty one would put a dot before each digit."""
    file = tmp_path / "data.csv"
    file.write_text("STRUCTURE,STRUCTURE_ID,OBS_VALUE\ndataflow,T:F(1.0),492.7\n")
    with pytest.raises(UsageError, match="give one character"):
        read_sdmx_csv(file, rules=world_rules(), decimal=decimal)


def test_a_pattern_selects_files_and_folders(tmp_path: Path) -> None:
    """A pattern selects files and folders, as on Spark; a file whose name looks like a pattern is itself."""
    for name in ("a1.csv", "a2.csv", "b.csv", "[c].csv"):
        (tmp_path / name).write_text(f"DATAFLOW,NOTE\nT:F(1.0),{name}\n")
    assert read_sdmx_csv(tmp_path / "a*.csv")["NOTE"].to_list() == ["a1.csv", "a2.csv"]
    assert read_sdmx_csv(tmp_path / "[c].csv")["NOTE"].to_list() == ["[c].csv"]
    with pytest.raises(UsageError, match="no file or folder matches"):
        read_sdmx_csv(tmp_path / "x*.csv")


@pytest.mark.parametrize(("name", "data", "expected_text"), PLAIN_CSV, ids=[name for name, _, _ in PLAIN_CSV])
def test_other_csv_that_is_refused(name: str, data: str | bytes, expected_text: str, tmp_path: Path) -> None:
    """Faulty plain CSV is refused, as SDMX-CSV is: nothing is filled up, renamed or guessed."""
    file = tmp_path / "data.csv"
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(DatasetError, match=expected_text) as error:
        read_plain_csv(file)
    assert str(file) in str(error.value)


def test_other_csv_with_names_behind_ids(tmp_path: Path) -> None:
    """The export of the BIS's data portal is plain CSV, although its first column begins like SDMX-CSV 1.0."""
    path = tmp_path / "export.csv"
    path.write_text(
        'DATAFLOW_ID:Dataflow ID,KEY:Timeseries Key,DIM_1:Dimension,Unit,TIME_PERIOD:Period,OBS_VALUE:Value,NOTE:Note\n'
        '"BIS,WS_SPP,1.0",A.B,A:Value A,Index,2014-01,150.5,a: b\n'
    )  # fmt: skip
    (source,) = sources_of([str(path)])
    assert source.kind == "csv"
    (row,) = read_plain_csv(path, rules=world_rules()).values.to_dicts()
    assert row == {
        "DATAFLOW_ID:Dataflow ID": "BIS,WS_SPP,1.0", "KEY:Timeseries Key": "A.B", "DIM_1": "A", "Unit": "Index",
        "TIME_PERIOD": "2014-01", "OBS_VALUE": "150.5", "NOTE": "a: b",
    }  # fmt: skip


def test_unusual_csv_means_the_same_as_in_sdmx_csv(tmp_path: Path) -> None:
    """Blank lines, empty cells, decimal commas and UTF-16 mean the same as in SDMX-CSV."""
    file = tmp_path / "data.csv"
    file.write_bytes('DIM_1,OBS_VALUE,NOTE\n\nA,"1,5",""\n\nB,,"1,5"\n\n'.encode("utf-16"))
    assert read_plain_csv(file, rules=world_rules(), decimal=",").values.rows() == [
        ("A", "1.5", None),
        ("B", None, "1,5"),
    ]


@pytest.mark.thorough
def test_fitting_rows_stay_valid_through_a_file(tmp_path: Path) -> None:
    """Valid rows are still valid after writing and reading, and have the requested action."""
    rules = world_rules()
    frame = pl.DataFrame(generate_rows(rules, 200), infer_schema_length=None)
    file = tmp_path / "data.csv"
    write_sdmx_csv(frame.drop("ATTR_1", "ATTR_2", "ATTR_3"), file, rules, action="replace")
    again = read_sdmx_csv(file)
    assert set(again["ACTION"]) == {"R"}
    assert validate(again, rules)["_errors"].null_count() == 200


def test_rows_with_wrong_cells_are_found_after_a_repeated_header(tmp_path: Path) -> None:
    """The location of a wrong row, and of rows after it, does not depend on headers before it, which are left out."""
    header, row = "STRUCTURE,STRUCTURE_ID,NOTE\n", "dataflow,T:F(1.0),{}\n"
    file = tmp_path / "data.csv"
    file.write_text(f"{header}{row.format('a')}{header}dataflow,T:F(1.0)\n \n{row.format('b')}{header}")
    (batch,) = open_sdmx_csv(file, rules=None, encoding=None, decimal=".").batches()
    assert [(wrong.at, wrong.line) for wrong in batch.wrong] == [(1, 4)]
    assert batch.lines.to_list() == [2, 4, 6]
    assert batch.cells.to_series(2).to_list() == ["a", None, "b"]


def test_rows_of_tabs_are_rows_of_empty_cells(tmp_path: Path) -> None:
    """A row of separators is a row, although the separator is white space; Spark ignores such rows."""
    file = tmp_path / "data.tsv"
    file.write_text("DATAFLOW\tDIM_1\tNOTE\n\t\t\nT:F(1.0)\tA\ta\n\t\t")
    assert read_sdmx_csv(file)["DIM_1"].to_list() == [None, "A", None]
    (source,) = sources_of([str(file)])
    assert source.kind == "sdmx-csv"


@pytest.mark.parametrize("text", [" \n\t\r\n \nDATAFLOW,DIM_1\n", " \nSTRUCTURE[|];STRUCTURE_ID;DIM_1\n"])
def test_lines_of_white_space_before_the_header_do_not_hide_it(text: str, tmp_path: Path) -> None:
    """The kind of a file is found, and its rows are read, after lines of white space."""
    file = tmp_path / "data.csv"
    file.write_text(text)
    assert sources_of([str(file)])[0].kind == "sdmx-csv"
    assert read_sdmx_csv(file).columns[-1] == "DIM_1"
    file.write_text(" \n\t\n ")
    with pytest.raises(DatasetError, match="SDMX-CSV"):
        read_sdmx_csv(file)
    with pytest.raises(DatasetError, match="the file is empty"):
        read_plain_csv(file)
