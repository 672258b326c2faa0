"""SDMX-ML data with prefixed XML attributes, and in encodings with several bytes per character."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import data_message_rows, located_blocks
from kafka_replica.data.files.messages.ml import events
from support.datasets.deletions import found_in, specific
from support.datasets.ml_messages import message

_OLD: Final = "http://www.SDMX.org/resources/SDMXML/schemas"
_STANDING: Final = {"STRUCTURE", "STRUCTURE_ID", "ACTION"}


def _read(text: str | bytes) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of a message, without structure and action, and the notes."""
    data = text if isinstance(text, bytes) else text.encode()
    notes: list[str] = []
    for _ in located_blocks("m", content=data, note=notes.append):
        pass
    found = (located.row for located in data_message_rows("m", content=data))
    return [{name: value for name, value in row.items() if name not in _STANDING} for row in found], notes


def test_components_with_the_prefix_of_the_structure() -> None:
    """A prefix of the message changes nothing, at each level, in series and flat."""
    plain = (
        '<Group A="x" TITLE="t"/><Series A="x" B="y"><Obs TIME_PERIOD="1" OBS_VALUE="1"/>'
        '<Obs TIME_PERIOD="2" OBS_VALUE=" 2"/><Obs TIME_PERIOD="3" OBS_VALUE=""/><Obs TIME_PERIOD="4"/></Series>'
    )
    expected = _read(message(plain))
    assert [row["TITLE"] for row in expected[0]] == ["t"] * 4
    assert expected[1] == []
    for name in ("TIME_PERIOD", "OBS_VALUE", " A", "TITLE"):
        written = name.replace(" ", " n:") if " " in name else f"n:{name}"
        assert _read(message(plain.replace(f"{name}=", f"{written}="))) == expected
    flat = '<Obs A="x" TIME_PERIOD="1" OBS_VALUE="1"/><Obs A="x" TIME_PERIOD="2" OBS_VALUE="2"/>'
    assert _read(message(flat.replace("A=", "n:A="), "AllDimensions")) == _read(message(flat, "AllDimensions"))
    of_data_set = message(flat).replace('ss:structureRef="S"', 'ss:structureRef="S" n:SET="s" ss:setID="i"')
    assert [row.get("SET") for row in _read(of_data_set)[0]] == ["s", "s"]
    assert "setID" not in _read(of_data_set)[0][0]


def test_components_with_a_prefix_in_messages_of_2_0() -> None:
    """Compact data may have the prefix of its elements, which need not be that of the data set; so may sections."""
    compact = (
        f'<CompactData xmlns="{_OLD}/v2_0/message" xmlns:k="urn:k" xmlns:l="urn:l"><Header/><k:DataSet>'
        '<l:Series l:A="x"><l:Obs l:TIME_PERIOD="1" k:OBS_VALUE="2"/></l:Series></k:DataSet></CompactData>'
    )
    assert _read(compact) == ([{"A": "x", "TIME_PERIOD": "1", "OBS_VALUE": "2"}], [])
    cross = (
        f'<CrossSectionalData xmlns="{_OLD}/v2_0/message" xmlns:k="urn:k"><Header/><k:DataSet><k:Group k:A="x">'
        '<k:Section><k:Obs k:B="y" k:value="2"/></k:Section></k:Group></k:DataSet></CrossSectionalData>'
    )
    assert _read(cross) == ([{"A": "x", "B": "y", "OBS_VALUE": "2"}], [])


def test_attributes_of_other_namespaces_are_noted() -> None:
    """An XML attribute that is an extension is not read, and the first of its namespace is noted."""
    body = '<Series A="x" x:B="b">\n<Obs TIME_PERIOD="1" x:C="c"/><Obs TIME_PERIOD="2" x:C="c" xml:lang="en"/></Series>'
    rows, notes = _read(message(body))
    assert rows == [{"A": "x", "TIME_PERIOD": "1"}, {"A": "x", "TIME_PERIOD": "2"}]
    (note,) = notes
    assert note.startswith(
        "XML attributes of the namespace 'urn:extension' are not part of SDMX-ML and were not read; "
    )
    assert note.endswith("the first is 'B' in line 3")


def test_a_component_with_and_without_prefix() -> None:
    """Two different values are an error, two equal ones are not."""
    text = message('<Series A="x" n:A="x"><Obs TIME_PERIOD="1"/></Series>')
    assert _read(text)[0] == [{"A": "x", "TIME_PERIOD": "1"}]
    with pytest.raises(DatasetError, match="line 3: A has two values in one element: 'x' and 'y'"):
        _read(text.replace('n:A="x"', 'n:A="y"'))


def test_a_prefix_may_be_that_of_one_element_only() -> None:
    """An XML attribute may be an extension of the series, and a component of its observations."""
    text = (
        f'<CompactData xmlns="{_OLD}/v2_0/message" xmlns:k="urn:k" xmlns:l="urn:l"><Header/><k:DataSet>'
        '<k:Series B="x" l:A="1"><l:Obs B="x" l:A="2"/><l:Obs B="x" l:A="3"/></k:Series></k:DataSet></CompactData>'
    )
    rows, (note,) = _read(text)
    assert rows == [{"B": "x", "A": "2"}, {"B": "x", "A": "3"}]
    assert "the first is 'A' in line 1" in note


@pytest.mark.parametrize(("extra", "is_read"), [("ss:setID", True), ("n:TITLE", True), ("ss:reporting", False)])
def test_deletions_with_other_attributes_in_a_namespace_of_sdmx(extra: str, is_read: bool) -> None:
    """An attribute that neither the standard nor the structure has may restrict the data set."""
    rows, notes = found_in(specific('<Series A="1"/>', f' {extra}="x"'))
    assert ({"A": "1"} in rows) is is_read
    assert any("restrict" in note for note in notes) is not is_read


def test_components_with_a_prefix_restrict_deletions() -> None:
    """A deletion names its dimensions with or without prefix."""
    made = specific('<Series A="1" ss:B="2"/>')
    assert found_in(made) == ([{"A": "1", "B": "2"}], [])


def test_observations_with_types_of_the_w3c_are_read_like_others() -> None:
    """The type is not a component; empty values, and observations with other components, are as in other runs."""
    plain = "".join(f'\n<Obs TIME_PERIOD="{one}" OBS_VALUE="{one % 5 or ""}"/>' for one in range(1, 20))
    plain = f'<Series A="x">{plain}<Obs TIME_PERIOD="t" OBS_VALUE="1" ST="s"/></Series>'
    expected = [*data_message_rows("m", content=message(plain).encode())]
    typed = message(plain.replace("<Obs ", '<Obs xsi:type="n:ObsType" '))
    assert [*data_message_rows("m", content=typed.encode())] == expected
    assert [located.row.get("OBS_VALUE") for located in expected[3:6]] == ["4", None, "1"]


def test_the_id_of_a_data_set_is_not_a_component() -> None:
    """The Federal Reserve writes one in messages of 1.0."""
    text = (
        f'<MessageGroup xmlns="{_OLD}/v1_0/message" xmlns:f="urn:f" xmlns:k="urn:k"><Header/><f:DataSet id="H10">'
        '<k:Series FX="AUD"><f:Obs TIME_PERIOD="2026-07-08" OBS_VALUE="1"/></k:Series></f:DataSet></MessageGroup>'
    )
    assert _read(text) == ([{"FX": "AUD", "TIME_PERIOD": "2026-07-08", "OBS_VALUE": "1"}], [])


_SERIES: Final = '<Series A="x">\n<Obs TIME_PERIOD="1" NOTE="中文"/>\n</Series>\n<Group A="x" TITLE="文中"/>'


@pytest.mark.parametrize(
    "encoding",
    ["GB2312", "GBK", "gb18030", "Big5", "Shift_JIS", "windows-31j", "EUC-JP", "ISO-2022-JP", "EUC-KR", "cp949"],
)
@pytest.mark.parametrize("size", [1 << 16, 61])
def test_encodings_with_several_bytes_per_character(
    encoding: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """XML may declare any encoding; characters may be cut at the end of a chunk."""
    monkeypatch.setattr(events, "_CHUNK", size)
    text = f'<?xml version="1.0" encoding="{encoding}"?>{message(_SERIES)}'
    (located,) = data_message_rows("m", content=text.encode(encoding.replace("windows-31j", "cp932")))
    assert (located.line, located.row["NOTE"], located.row["TITLE"]) == (4, "中文", "文中")


def test_encodings_that_are_not_read() -> None:
    """The error names the encoding; the file may be well-formed."""
    text = message(_SERIES)
    wrong = f'<?xml version="1.0" encoding="GB2312"?>{text}'.encode()
    for damaged in (wrong, wrong.replace("文".encode(), b"") + b"\xd6"):
        with pytest.raises(DatasetError, match="it is not in the encoding that it declares, GB2312: "):
            _read(damaged)
    for name in ("no-such-encoding", "utf-7"):
        with pytest.raises(DatasetError, match=r"its declared encoding cannot be read .*; convert it to UTF-8"):
            _read(f"<?xml version='1.0' encoding='{name}'?>{text}")
