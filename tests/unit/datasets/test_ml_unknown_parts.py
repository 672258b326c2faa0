"""Parts of SDMX-ML data messages that the standard does not define: no data in them is lost without an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import data_message_rows, located_blocks, read_data_message
from support.datasets.ml_messages import DSD, message

_OLD = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
_SERIES = '<Series A="x"><Obs TIME_PERIOD="2010" OBS_VALUE="1"/>{}</Series>'


def _series(more: str) -> str:
    return _SERIES.format(more)


def _generic(inner: str, more: str = "") -> str:
    return (
        '<g:Series><g:SeriesKey><g:Value id="A" value="x"/></g:SeriesKey>'
        f'<g:Obs><g:ObsDimension value="2010"/>{inner}</g:Obs>{more}</g:Series>'
    )


def _compact(body: str) -> str:
    """Return a compact message of 2.0."""
    return (
        f'<CompactData xmlns="{_OLD}/message" xmlns:k="urn:sdmx:org.sdmx.infomodel.keyfamily.KeyFamily=T:D:compact">\n'
        f"<Header/>\n<k:DataSet>{body}</k:DataSet></CompactData>"
    )


_VALUE = '<g:ObsValue value="1"/>'
REFUSED = {
    "a misspelt observation": (message(_series('<obs TIME_PERIOD="2011"/>')), "'obs' is not .* did you mean 'Obs'"),
    "an observation in the namespace of the structure": (message(_series("<n:obs/>")), "'obs' is not"),
    "an observation in a namespace of SDMX": (message(_series("<ss:Observation/>")), "'Observation' is not"),
    "a misspelt series": (message(_series("") + '<series A="y"/>'), "'series' is not .* did you mean 'Series'"),
    "a value as an element": (
        message(_series("<Obs><OBS_VALUE>1</OBS_VALUE></Obs>")), "'OBS_VALUE' is not .*; values are XML attributes",
    ),
    "attributes of generic data": (message('<Attributes SET="a"/>' + _series("")), "'Attributes' is not"),
    "misspelt groups": (message('<Groups A="x" TITLE="t"/>' + _series("")), "'Groups' is not .* did you mean 'Group'"),
    "a text in the first observation": (message("<Series><Obs>3.7</Obs></Series>"), "the text '3.7' is"),
    "a text in a later observation": (message(_series('<Obs TIME_PERIOD="2011">3.7</Obs>')), "the text '3.7' is"),
    "a text in a series": (message(_series(" \n stray")), "the text 'stray' is"),
    "a text in a component": (message(_series('<Obs><Comp id="OBS_VALUE">3.7</Comp></Obs>')), "the text '3.7' is"),
    "a value outside of a component": (message(_series("<Obs><Value>3.7</Value></Obs>")), "Value is not within Comp"),
    "a component without an id": (message(_series("<Comp><Value>1</Value></Comp>")), "Comp has no id"),
    "a misspelt value": (message(_series('<Obs><Comp id="A"><value>1</value></Comp></Obs>')), "'value' is not"),
    "an observation in a group": (message('<Group A="x"><Obs OBS_VALUE="1"/></Group>'), "Obs is within"),
    "generic: a misspelt element": (
        message(_generic('<g:ObsVal value="1"/>'), kind="Generic"), "'ObsVal' is not .* did you mean 'ObsValue'",
    ),
    "generic: a misspelt XML attribute": (
        message(_generic('<g:ObsValue val="1"/>'), kind="Generic"), "ObsValue has no value, .*'val'.* mean 'value'",
    ),
    "generic: a misspelt XML attribute of a key": (
        message('<g:Series><g:SeriesKey><g:Value id="A" Value="x"/></g:SeriesKey></g:Series>', kind="Generic"),
        "Value has no value, but the XML attribute 'Value'",
    ),
    "generic: a misspelt XML attribute of a period": (
        message("<g:Series><g:Obs><g:ObsDimension val='2010'/></g:Obs></g:Series>", kind="Generic"),
        "ObsDimension has no value",
    ),
    "generic: a value without a component": (
        message("<g:Series><g:SeriesKey><g:Value ID='A' value='x'/></g:SeriesKey></g:Series>", kind="Generic"),
        "Value has no id",
    ),
    "generic: a value in place of an observation's": (
        message(_generic('<g:Value id="OBS_VALUE" value="1"/>'), kind="Generic"), "Value is not within SeriesKey, ",
    ),
    "generic: a text": (message(_generic("<g:ObsValue>3.7</g:ObsValue>"), kind="Generic"), "the text '3.7' is"),
    "generic: an observation's value in a series": (
        message(_generic(_VALUE, _VALUE), kind="Generic"), "ObsValue is not within Obs",
    ),
    "generic: a period in a series": (
        message(_generic(_VALUE, "<g:ObsDimension value='1'/>"), kind="Generic"), "ObsDimension is not within Obs",
    ),
    "generic: a time in a series": (
        message(_generic(_VALUE, "<g:Time>2010</g:Time>"), kind="Generic"), "Time is not within Obs",
    ),
    "generic: a key outside of a series": (message("<g:SeriesKey/>", kind="Generic"), "SeriesKey is not within Series"),
    "generic: a key outside of an observation": (message("<g:ObsKey/>", kind="Generic"), "ObsKey is not within Obs"),
    "generic: a key outside of a group": (message("<g:GroupKey/>", kind="Generic"), "GroupKey is not within Group"),
    "2.0: a misspelt observation": (_compact('<k:Series A="x"><k:obs OBS_VALUE="1"/></k:Series>'), "'obs' is not"),
    "2.0: a misspelt series": (_compact('<k:series A="x"><k:Obs OBS_VALUE="1"/></k:series>'), "Obs is within"),
    "2.0: a text": (_compact('<k:Series A="x"><k:Obs>3.7</k:Obs></k:Series>'), "the text '3.7' is"),
    "cross-sectional: a text": (
        _compact("<k:Section><k:Obs>3.7</k:Obs></k:Section>").replace("CompactData", "CrossSectionalData"),
        "the text '3.7' is",
    ),
    "a misspelt data set": (
        message(f"{_series('')}</m:DataSet><m:Dataset>").replace("</m:DataSet></m:S", "</m:Dataset></m:S"),
        "'Dataset' is not .* did you mean 'DataSet'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_data_in_an_unknown_part_is_refused(name: str, tmp_path: Path) -> None:
    """Data in a part that SDMX-ML does not define is an error that names the part, its line and the file."""
    text, expected_text = REFUSED[name]
    file = tmp_path / "data.xml"
    file.write_text("\n" + text.replace("\n", "\n\n"))
    line = 8 if " \n stray" in text else 6
    with pytest.raises(DatasetError, match=rf"reading .*data\.xml: line {line}: .*{expected_text}"):
        list(data_message_rows(file))


@pytest.mark.long
def test_the_line_of_a_text_is_found_in_a_later_chunk(tmp_path: Path) -> None:
    """A text is found anywhere in a long file, also after groups that come late."""
    series = [f'\n<Series A="{at}"><Obs TIME_PERIOD="2010" OBS_VALUE="{at}"/></Series>' for at in range(20_000)]
    series[15_000] = series[15_000].replace("<Obs", "&#13; 3<Obs")
    file = tmp_path / "data.xml"
    file.write_text(message("".join(series) + '<Group A="1" TITLE="late"/>'))
    with pytest.raises(DatasetError, match="line 15004: the text '3' is"):
        read_data_message(file)


def _notes_of(file: Path, text: str) -> tuple[list[dict[str, Any]], list[str]]:
    file.write_text(text)
    notes: list[str] = []
    for _ in located_blocks(file, note=notes.append):
        pass
    return read_data_message(file), notes


def test_extensions_of_the_sender_are_skipped_with_a_note(tmp_path: Path) -> None:
    """Elements of a foreign namespace, with whatever they contain, are left out, and a note says so."""
    extension = "<x:Source>text<Obs OBS_VALUE='2'/></x:Source>"
    text = message(extension + _series(f'{extension}<Obs TIME_PERIOD="2011" OBS_VALUE="2">{extension}</Obs>'))
    rows, notes = _notes_of(tmp_path / "data.xml", text.replace("</m:Header>", f"</m:Header>{extension}"))
    assert [row["OBS_VALUE"] for row in rows] == ["1", "2"]
    (note,) = notes
    assert (
        "namespace 'urn:extension' are not part of SDMX-ML and were not read; the first is 'Source' in line 2" in note
    )


def test_everything_that_the_schemas_define_is_read(tmp_path: Path) -> None:
    """White space, comments, empty values and elements without data are not errors."""
    specific = (
        "<c:Annotations><c:Annotation><c:AnnotationText>text</c:AnnotationText></c:Annotation></c:Annotations>\n"
        "<DataProvider><Ref id='P'/></DataProvider> <!-- text --> <Atts SET='a'/> <Group A='x' TITLE='t'>\n"
        "<c:Annotations/></Group>"
        + _series('\n<Obs TIME_PERIOD="2011" xsi:nil="true">\t<Comp id="N"><Value/></Comp> </Obs>')
    )
    rows, notes = _notes_of(tmp_path / "data.xml", message(specific))
    assert [(row["SET"], row["TITLE"], row["OBS_VALUE"]) for row in rows] == [("a", "t", "1"), ("a", "t", None)]
    generic = "<c:Annotations/><g:DataProvider/>" + _generic(
        '<g:ObsValue/><g:Attributes><g:Value id="N"/></g:Attributes>'
    )
    more, others = _notes_of(tmp_path / "data.xml", message(generic, kind="Generic"))
    assert [{name: value for name, value in row.items() if name in {"A", "N", "TIME_PERIOD"}} for row in more] == [
        {"A": "x", "TIME_PERIOD": "2010"}
    ]
    assert (notes, others) == ([], [])


_SECOND = f'<m:Structure structureID="Z"><c:Structure>{DSD}</c:Structure></m:Structure></m:Header>'


@pytest.mark.parametrize(
    ("reference", "expected_text"),
    [(' ss:structureRef="Q"', "the structureRef 'Q', which the header does not declare"), ("", "no structureRef")],
)
def test_a_structure_that_the_header_does_not_declare_is_refused(
    reference: str, expected_text: str, tmp_path: Path
) -> None:
    """If the header declares several structures, each data set must refer to one of them."""
    file = tmp_path / "data.xml"
    text = message(_series("") + f"</m:DataSet>\n<m:DataSet{reference}>" + _series(""))
    file.write_text(text.replace("</m:Header>", _SECOND))
    with pytest.raises(DatasetError, match=rf"data\.xml: line 4: a data set has {expected_text}.*\('S', 'Z'\)"):
        read_data_message(file)


def test_one_wrong_reference_to_the_only_structure_is_noted(tmp_path: Path) -> None:
    """A service that writes another reference than its only structure is read with a note; two references are not."""
    file = tmp_path / "data.xml"
    text = message(_series(""))
    rows, notes = _notes_of(file, text.replace('structureRef="S"', 'structureRef="Q"'))
    assert [row["STRUCTURE_ID"] for row in rows] == ["T:D(1.0)"]
    (note,) = notes
    assert "refers to the structure 'Q'" in note
    rows, notes = _notes_of(file, text.replace(' ss:structureRef="S"', ""))
    assert ([row["STRUCTURE_ID"] for row in rows], notes) == (["T:D(1.0)"], [])
    file.write_text(message(_series("") + f'</m:DataSet><m:DataSet ss:structureRef="Q">{_series("")}'))
    with pytest.raises(DatasetError, match=r"the structureRef 'Q'.*\('S'\)"):
        read_data_message(file)
