"""Files of SDMX-CSV with their required content, each with its source, for both engines.

Sources are examples of the SDMX-CSV field guide 2.1 (1.0 where it says so), with its words shortened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafka_replica import Snapshot
from kafka_replica.data.validation import Rules
from support.rules.structures_by_hand import (
    AGREEMENT,
    DSD,
    FLOW,
    FLOWS,
    attribute,
    coded,
    codelist,
    dimension,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)


def world() -> Snapshot:
    """A data structure with a component of each form, and its flow."""
    return version_of(
        codelist("CL", ["A", "B", "X", "Y"]),
        structure(
            dimension("DIM_1", coded("CL")),
            dimension("DIM_2", coded("CL")),
            time(),
            measure(),
            attribute("ATTR_1", coded("CL"), occurs='minOccurs="0" maxOccurs="unbounded"'),
            attribute("ATTR_2", text(isMultiLingual="true")),
            attribute("ATTR_3", text(isMultiLingual="true"), occurs='minOccurs="0" maxOccurs="3"'),
            attribute("NOTE"),
        ),
        FLOWS,
    )


def world_rules() -> Rules:
    """The compiled rules of its flow."""
    return rules_of(world(), FLOW)


SAYING: list[dict[str, str | None]] = [
    {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0)", "DATAFLOW": None},
    {"STRUCTURE": "datastructure", "STRUCTURE_ID": "T:D(1.0)", "DATAFLOW": "T:OTHER(1.0)"},
    {"STRUCTURE": "dataprovision", "STRUCTURE_ID": "T:PA(1.0)", "DATAFLOW": None},
    {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:OTHER(1.0)", "DATAFLOW": None},
    {"STRUCTURE": None, "STRUCTURE_ID": None, "DATAFLOW": "T:F(1.0)"},
    {"STRUCTURE": None, "STRUCTURE_ID": None, "DATAFLOW": "T:OTHER(1.0)"},
    {"STRUCTURE": None, "STRUCTURE_ID": None, "DATAFLOW": None},
    {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0+)", "DATAFLOW": None},
    {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(2.0.0+)", "DATAFLOW": None},
    {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0):The flow (new)", "DATAFLOW": None},
]
"""Rows as files of 2.0 and 1.0 contain them, one below the other."""
MEANT = (
    (DSD, False, [1, 6]),
    (DSD, True, [0, 1, 2, 4, 6, 7, 9]),
    (FLOW, False, [0, 1, 4, 6, 7, 9]),
    (FLOW, True, [0, 1, 2, 4, 6, 7, 9]),
    (AGREEMENT, False, [1, 2, 6]),
    (AGREEMENT, True, [0, 1, 2, 4, 6, 7, 9]),
)
"""The rules of an artefact, the use of ``usages_of``, and which of these rows belong to it."""


@dataclass(frozen=True)
class CsvCase:
    """A file, and its rows; texts in languages as dictionaries."""

    name: str
    source: str
    data: bytes
    rows: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    with_rules: bool = False
    line_breaks: bool = False


def _utf8(*lines: str) -> bytes:
    return "\n".join([*lines, ""]).encode()


_STANDING = {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0)"}
_FIRST = {**_STANDING, "ACTION": "M", "DIM_1": "A", "DIM_2": "B", "TIME_PERIOD": "2014-01"}

CSV_CASES = (
    CsvCase(
        "ordinary", "2.1, example 1: a custom column, a comma within quotes",
        _utf8(
            "STRUCTURE,STRUCTURE_ID,ACTION,DIM_1,DIM_2,TIME_PERIOD,OBS_VALUE,NOTE,UPDATED",
            'dataflow,T:F(1.0),M,A,B,2014-01,12.4,"Normal, special",2021-01-22T13:15:41Z',
            "dataflow,T:F(1.0),M,A,B,2014-02,,,2021-01-22T13:15:41Z",
        ),
        [
            {**_FIRST, "OBS_VALUE": "12.4", "NOTE": "Normal, special", "UPDATED": "2021-01-22T13:15:41Z"},
            {**_FIRST, "TIME_PERIOD": "2014-02", "OBS_VALUE": None, "NOTE": None, "UPDATED": "2021-01-22T13:15:41Z"},
        ],
    ),
    CsvCase(
        "several values", "2.1, examples 2 and 7; for values that hold the separator the guide of metadata, example 2",
        _utf8(
            "STRUCTURE[;],STRUCTURE_ID,ACTION,NOTE[],ATTR_1[]",
            'dataflow,T:F(1.0),M,"M, N & O;P & Q",A;B;X',
            'dataflow,T:F(1.0),M,"""a;b"";say ""hi"";""with """"quotes""""""",A',
            "dataflow,T:F(1.0),M,;x,",
        ),
        [
            {**_STANDING, "ACTION": "M", "NOTE": ["M, N & O", "P & Q"], "ATTR_1": ["A", "B", "X"]},
            {**_STANDING, "ACTION": "M", "NOTE": ["a;b", 'say "hi"', 'with "quotes"'], "ATTR_1": ["A"]},
            {**_STANDING, "ACTION": "M", "NOTE": ["", "x"], "ATTR_1": None},
        ],
    ),
    CsvCase(
        "languages", "2.1, example 8; a text without a language, one twice",
        _utf8(
            "STRUCTURE[;],STRUCTURE_ID,ATTR_2[en;fr]",
            "dataflow,T:F(1.0),en:Any Value: this;fr:N'importe",
            'dataflow,T:F(1.0),"en:Value ""X"";fr:Valeur ""X"""',
            "dataflow,T:F(1.0),plain",
            "dataflow,T:F(1.0),en:one;en:two",
            "dataflow,T:F(1.0),",
        ),
        [
            {**_STANDING, "ATTR_2": {"en": "Any Value: this", "fr": "N'importe"}},
            {**_STANDING, "ATTR_2": {"en": 'Value "X"', "fr": 'Valeur "X"'}},
            {**_STANDING, "ATTR_2": {"und": "plain"}},
            {**_STANDING, "ATTR_2": {"en": "one"}},
            {**_STANDING, "ATTR_2": None},
        ],
    ),
    CsvCase(
        "several values in languages", "2.1, Non-coded multi-lingual multi-valued components: rules tell it from one",
        _utf8(
            "STRUCTURE[;],STRUCTURE_ID,ATTR_3[en;fr;de]",
            'dataflow,T:F(1.0),"""en:Value1;fr:Valeur1"";""en:Value2;de:Wert2"""',
        ),
        [{**_STANDING, "ATTR_3": [{"en": "Value1", "fr": "Valeur1"}, {"en": "Value2", "de": "Wert2"}]}],
        with_rules=True,
    ),
    CsvCase(
        "names behind ids, French", "2.1, example 4: semicolons between cells, decimal commas, keys",
        _utf8(
            "STRUCTURE[|];STRUCTURE_ID;ACTION;SERIES_KEY;OBS_KEY;DIM_1: Dimension 1;DIM_2: Dim: 2;TIME_PERIOD: Temps;"
            "OBS_VALUE: Valeur;ATTR_1[]: Attribut;NOTE: Note;UPDATED",
            "dataflow;T:F(1.0): Un flux;M;A.B;A.B.2014-01;A: Val: A;B;2014-01: 2014-01;12,4;X: Oui|Y: Non;Nota: bene;u",
        ),
        [{**_FIRST, "SERIES_KEY": "A.B", "OBS_KEY": "A.B.2014-01", "OBS_VALUE": "12.4", "ATTR_1": ["X", "Y"],
          "NOTE": "Nota: bene", "UPDATED": "u"}],
        settings={"decimal": ","}, with_rules=True,
    ),
    CsvCase(
        "keys in a file without actions", "2.0, SERIES_KEY, OBS_KEY", _utf8(
            "STRUCTURE,STRUCTURE_ID,SERIES_KEY,OBS_KEY,DIM_1,DIM_2,TIME_PERIOD",
            "dataflow,T:F(1.0),A.B,A.B.2014,A,B,2014",
        ),
        [{"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0)", "DIM_1": "A", "DIM_2": "B", "TIME_PERIOD": "2014"}],
    ),
    CsvCase(
        "names in columns", "2.1, example 6; names that are alike, and like an id",
        _utf8(
            "STRUCTURE,STRUCTURE_ID,STRUCTURE_NAME,ACTION,DIM_1,Same,DIM_2,Same,TIME_PERIOD,TIME_PERIOD,OBS_VALUE,,MORE",
            "dataflow,T:F(1.0),A flow,M,A,Value A,B,Value B,2014-01,2014-01,12.4,,more",
        ),
        [{**_FIRST, "OBS_VALUE": "12.4", "MORE": "more"}],
        with_rules=True,
    ),
    CsvCase(
        "names in columns of components that the rules lack", "2.1, labels=name; empty and equal names, as of the OECD",
        _utf8(
            "STRUCTURE,STRUCTURE_ID,STRUCTURE_NAME,ACTION,DIM_1,One,NEW_1,,NEW_2,,NEW_3,Some name,NEW_4,Some name,"
            "NEW_5,NEW_5,MORE,OTHER,DIM_2,",
            "dataflow,T:F(1.0),A flow,M,A,Value A,a,x,b,,c,C,d,D,e,E,more,other,B,",
        ),
        [{**_STANDING, "ACTION": "M", "DIM_1": "A", "NEW_1": "a", "NEW_2": "b", "NEW_3": "c", "NEW_4": "d",
          "NEW_5": "e", "MORE": "more", "OTHER": "other", "DIM_2": "B"}],
        with_rules=True,
    ),
    CsvCase(
        "names behind several codes, no brackets in the header", "2.1, labels=both; as of services that omit []",
        _utf8(
            "STRUCTURE[;],STRUCTURE_ID,DIM_1: Dimension,ATTR_1: Several,NOTE: Note",
            "dataflow,T:F(1.0),B: Business,A: Value A;B: Value B,a;b",
            "dataflow,T:F(1.0),B: Business,A: Value A,",
        ),
        [{**_STANDING, "DIM_1": "B", "ATTR_1": ["A", "B"], "NOTE": "a;b"},
         {**_STANDING, "DIM_1": "B", "ATTR_1": ["A"], "NOTE": None}],
        with_rules=True,
    ),
    CsvCase(
        "names behind ids, no blank in the header", "bulk files of the BIS, 2024: WS_CBPOL_csv_flat",
        _utf8(
            "STRUCTURE,STRUCTURE_ID,ACTION,DIM_1:One,DIM_2:Other,TIME_PERIOD:Time or range,OBS_VALUE:Value,xml:lang",
            "dataflow,T:F(1.0): A flow,I,A: Value: A,B: b,2014-01,12.4,en: x",
        ),
        [{**_FIRST, "ACTION": "I", "DIM_2": "B", "OBS_VALUE": "12.4", "xml:lang": "en: x"}],
        with_rules=True,
    ),
    CsvCase(
        "names behind ids, no blanks", "data of Norges Bank and the BIS, labels=both",
        _utf8(
            "STRUCTURE[;],STRUCTURE_ID,DIM_1:Dimension,ATTR_1[]:Several,TIME_PERIOD:Time,NOTE:Note",
            "dataflow,T:F(1.0),B:Business,A:Value A;B:Value B,2014-01-01T10:00:00,Nota:bene",
        ),
        [{**_STANDING, "DIM_1": "B", "ATTR_1": ["A", "B"], "TIME_PERIOD": "2014-01-01T10:00:00", "NOTE": "Nota:bene"}],
        with_rules=True,
    ),
    CsvCase(
        "columns with colons that are not components", "2.1, custom columns",
        _utf8("STRUCTURE,STRUCTURE_ID,DIM_1,xml:lang", "dataflow,T:F(1.0),A,en:x"),
        [{**_STANDING, "DIM_1": "A", "xml:lang": "en:x"}],
    ),
    CsvCase(
        "version 1.0", "1.0, Columns: DATAFLOW first, no actions",
        _utf8("DATAFLOW,DIM_1,DIM_2,TIME_PERIOD,OBS_VALUE", "T:F(1.0),A,B,2014-01,12.4"),
        [{"DATAFLOW": "T:F(1.0)", "DIM_1": "A", "DIM_2": "B", "TIME_PERIOD": "2014-01", "OBS_VALUE": "12.4"}],
    ),
    CsvCase(
        "version 1.0 with names", "1.0, labels=both",
        _utf8("DATAFLOW,DIM_1: One,OBS_VALUE: Value", "T:F(1.0): A flow,A: Value A,12.4"),
        [{"DATAFLOW": "T:F(1.0)", "DIM_1": "A", "OBS_VALUE": "12.4"}],
        with_rules=True,
    ),
    CsvCase(
        "quoted all over, with a byte order mark and CRLF", "RFC 4180",
        b'\xef\xbb\xbf"STRUCTURE","STRUCTURE_ID","DIM_1","NOTE"\r\n"dataflow","T:F(1.0)","A"," spaces "\r\n',
        [{**_STANDING, "DIM_1": "A", "NOTE": " spaces "}],
    ),
    CsvCase(
        "line breaks", "2.1, example 15: XHTML with line breaks",
        _utf8("STRUCTURE,STRUCTURE_ID,NOTE,DIM_1", 'dataflow,T:F(1.0),"<p>This is', 'some ""text""</p>",A'),
        [{**_STANDING, "NOTE": '<p>This is\nsome "text"</p>', "DIM_1": "A"}],
        line_breaks=True,
    ),
    CsvCase(
        "Latin 1, tabs", "2.1, Design principles: any separator",
        "STRUCTURE\tSTRUCTURE_ID\tNOTE\ndataflow\tT:F(1.0)\tZürich; é\n".encode("latin-1"),
        [{**_STANDING, "NOTE": "Zürich; é"}],
        settings={"encoding": "ISO-8859-1"},
    ),
    CsvCase(
        "marks of missing values", "2.1, Intentionally missing values; Further details: ~",
        _utf8("STRUCTURE,STRUCTURE_ID,ACTION,DIM_1,OBS_VALUE,NOTE", "dataflow,T:F(1.0),D,~,NaN,#N/A"),
        [{**_STANDING, "ACTION": "D", "DIM_1": "~", "OBS_VALUE": "NaN", "NOTE": "#N/A"}],
    ),
    CsvCase(
        "nested metadata attributes", "2.1, nested metadata attributes: their columns stay texts",
        _utf8("STRUCTURE[;],STRUCTURE_ID,CONTACT[].NAME[]", 'dataflow,T:F(1.0),"""a;b"";c"'),
        [{**_STANDING, "CONTACT[].NAME[]": '"a;b";c'}],
    ),
    CsvCase(
        "the separator of values only in a header with languages", "2.1, example 14",
        _utf8("STRUCTURE,STRUCTURE_ID,COLLECTION.METHOD[en;fr],CONTACT[]", "dataflow,T:F(1.0),en:one;fr:un,a;b"),
        [{**_STANDING, "COLLECTION.METHOD": {"en": "one", "fr": "un"}, "CONTACT": ["a", "b"]}],
    ),
    CsvCase(
        "blank lines", "RFC 4180: a line with nothing is not a record; within quotes it is text",
        b'\n\nSTRUCTURE,STRUCTURE_ID,NOTE\n\n\ndataflow,T:F(1.0),a\n\ndataflow,T:F(1.0),"x\n\ny"\n\n',
        [{**_STANDING, "NOTE": "a"}, {**_STANDING, "NOTE": "x\n\ny"}],
        line_breaks=True,
    ),
    CsvCase(
        "blank lines, CRLF", "RFC 4180",
        b"STRUCTURE,STRUCTURE_ID,NOTE\r\n\r\ndataflow,T:F(1.0),a\r\n\r\n\r\n",
        [{**_STANDING, "NOTE": "a"}],
    ),
    CsvCase(
        "lines of white space", "Spark ignores them; in text within quotes they are kept",
        _utf8("  \t", "STRUCTURE,STRUCTURE_ID,NOTE", "   ", "dataflow,T:F(1.0), ", "\t", "dataflow,T:F(1.0),b", " "),
        [{**_STANDING, "NOTE": " "}, {**_STANDING, "NOTE": "b"}],
    ),
    CsvCase(
        "lines of white space, tabs", "Spark ignores them",
        b"STRUCTURE\tSTRUCTURE_ID\tNOTE\r\n  \r\ndataflow\tT:F(1.0)\ta\r\n",
        [{**_STANDING, "NOTE": "a"}],
    ),
    CsvCase(
        "two files joined, with the header of each", "2.1, Design principles: the header is mandatory",
        b"\xef\xbb\xbf"
        + 2 * _utf8("STRUCTURE,STRUCTURE_ID,NOTE", "dataflow,T:F(1.0),a", 'dataflow,T:F(1.0),"b,"')
        + b"\xef\xbb\xbf" + _utf8('STRUCTURE,"STRUCTURE_ID",NOTE'),
        [{**_STANDING, "NOTE": "a"}, {**_STANDING, "NOTE": "b,"}] * 2,
    ),
    CsvCase(
        "two files joined, without quotes", "2.1, Design principles: the header is mandatory",
        2 * _utf8("STRUCTURE[;],STRUCTURE_ID,NOTE", "dataflow,T:F(1.0),a"),
        [{**_STANDING, "NOTE": "a"}] * 2,
    ),
    CsvCase(
        "UTF-16", "what the byte order mark says; for Spark by name",
        "STRUCTURE,STRUCTURE_ID,NOTE\ndataflow,T:F(1.0),é\n".encode("utf-16"),
        [{**_STANDING, "NOTE": "é"}],
        settings={"encoding": "UTF-16"},
    ),
    CsvCase(
        "no rows", "2.1, Design principles: the header is mandatory",
        _utf8("STRUCTURE,STRUCTURE_ID,DIM_1"), [],
    ),
)  # fmt: skip

WRONG_HEADERS = (
    ("no SDMX-CSV", "FREQ,REF_AREA\nA,B\n", "its first column is called 'FREQ,REF_AREA'"),
    ("no second column", "STRUCTURE,DIM_1\ndataflow,A\n", "its second column must be STRUCTURE_ID, but is 'DIM_1'"),
    (
        "no separator of values",
        "STRUCTURE,STRUCTURE_ID,NOTE[]\ndataflow,T:F(1.0),a;b\n",
        "must be like STRUCTURE\\[;\\]",
    ),
    ("one separator for both", '"STRUCTURE[,]",STRUCTURE_ID,NOTE[]\n', "',' cannot separate both"),
    ("a column twice", "STRUCTURE,STRUCTURE_ID,DIM_1,DIM_1\n", "more than one column DIM_1"),
    ("an empty file", "", "SDMX-CSV|the file is empty"),
    ("a separator that is not ASCII", "STRUCTURE[/]¦STRUCTURE_ID¦DIM_1\ndataflow¦T:F(1.0)¦A\n", "'¦' cannot separate"),
)

WRONG_WORDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"action": "R"}, "action='R': give one of information, append, replace, merge, delete"),
    ({"keys": "nope"}, "keys='nope': give one of none, series, obs, both"),
    ({"labels": "names"}, "labels='names': give one of id, name, both"),
    ({"collected": "late"}, "collected='late': give one of start, middle, end"),
    ({"time_format": "days"}, "time_format='days': give one of original, normalized"),
    ({"version": "2.1"}, "version='2.1': give 2.0, which is read as 2.1 as well, or 1.0"),
    ({"version": "1.0", "action": "delete"}, "cannot represent the action delete; write version"),
)
"""Invalid arguments of writing, and the errors."""

PLAIN_CSV = (
    ("a column twice", "DIM_1,OBS_VALUE,DIM_1\nA,1,B\n", "more than one column DIM_1"),
    ("a row one cell short", "DIM_1,OBS_VALUE\nA,1\nA\n", "line 3 has 1 cell, "),
    ("a row one cell long", "DIM_1,OBS_VALUE\nA,1,2\n", "line 2 has 3 cells"),
    ("an empty file", "", "the file is empty"),
    ("not UTF-8", b"DIM_1,OBS_VALUE\nA,\xe9\n", "give its encoding"),
)
"""Other CSV that is rejected, and the error of polars' reader; Spark's ends the job at rows of other lengths."""
