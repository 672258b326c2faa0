"""SDMX-JSON messages that are read in many parts have the same rows and errors as those that are read in one."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import located_blocks
from kafka_replica.data.files.messages.json import object_parts, scanner
from kafka_replica.data.files.messages.json.key_hashes import KeyHashes
from kafka_replica.data.files.messages.json.message_text import MessageText
from kafka_replica.data.files.messages.json.outline import Outline
from support.datasets.json_oracle import MessageMaker
from support.effort import examples

_TEXTS = ['"}, "1:0": {"', '},"0":[1],', '"},":":{', "\\", "é😀"]
"""Texts that are similar to what is between two members, or are written with escapes."""
_PIECES = [
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"1e9", b"null", b"\xff", b"\\", b" ", b"NaN", b'"0:0":{}', b'"0":[1],',
]  # fmt: skip


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut objects into parts of some members, and read the text some bytes at a time."""
    monkeypatch.setattr(object_parts, "_SHORTEST", 1 << 5)
    monkeypatch.setattr(object_parts, "_LONGEST", 1 << 8)
    monkeypatch.setattr(scanner, "_WINDOW", 16)


def located_rows(data: bytes, notes: list[str] | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a message with their locations, without components that have no value."""
    found = []
    for _, block in located_blocks("m", content=data, note=(notes if notes is not None else []).append):
        assert block.paths is not None
        for at, path in enumerate(block.paths):
            row = {**block.shared, **{name: column[at] for name, column in block.varying.items()}}
            found.append((path, {name: value for name, value in row.items() if value is not None}))
    return found


def outcome(data: bytes) -> list[tuple[str, dict[str, Any]]] | str:
    """Return the rows of a message, or the kind of the error."""
    try:
        return located_rows(data)
    except DatasetError:
        return "error"


def flat(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of the oracle without series."""
    (data_set,), (structure,) = message["data"]["dataSets"], message["data"]["structures"]
    dimensions, series = structure["dimensions"], data_set.pop("series")
    dimensions["observation"] = [*dimensions.pop("series"), *dimensions["observation"]]
    data_set["observations"] = {
        f"{key}:{period}": values
        for key, value in series.items() for period, values in (value.get("observations") or {}).items()
    }  # fmt: skip
    return message


def two_data_sets(seed: int) -> dict[str, Any]:
    """Return a message with two data sets, each with its structure, some of them flat; the structures may be last."""
    first, second = (MessageMaker(one).message() for one in (seed, seed + 1_000_000))
    first, second = flat(first) if seed % 5 == 0 else first, flat(second) if seed % 3 == 0 else second
    structures = [*first["data"]["structures"], *second["data"]["structures"]]
    structures[1]["dataSets"] = [1]
    second["data"]["dataSets"][0]["structure"] = 1
    data = {"dataSets": [*first["data"]["dataSets"], *second["data"]["dataSets"]], "structures": structures}
    return {"data": data if seed % 2 else dict(reversed(data.items()))}


def written(seed: int) -> bytes:
    """Return such a message as text, in one of several layouts and encodings, in some cases damaged."""
    dice = random.Random(seed)
    layout: dict[str, Any] = dice.choice(
        [{}, {"indent": 1}, {"separators": (",", ":")}, {"separators": (" ,\n", " : ")}]
    )
    text = json.dumps(two_data_sets(seed), **layout)
    if dice.random() < 0.2:
        text = text.replace("1.5", dice.choice(["NaN", "-Infinity", "12.40"]))
    if dice.random() < 0.2:
        text = text.replace(
            '"hello"', json.dumps(dice.choice(['"}, "1:0": {"', '},"0":[1],', '"},":":{', "\\", "é😀"]))
        )
    data = bytearray(text.encode(dice.choice(["utf-8"] * 8 + ["utf-8-sig", "utf-16", "utf-32-be"])))
    if dice.random() < 0.1:
        del data[dice.randrange(len(data)) :]
    for _ in range(dice.choice([0, 0, 1, 2])):
        start = dice.randrange(len(data))
        data[start : start + dice.randrange(4)] = dice.choice(_PIECES)
    return bytes(data)


@pytest.mark.thorough
def test_small_parts_have_the_same_rows_as_whole_objects(request: pytest.FixtureRequest) -> None:
    """Random messages, half of which are damaged, have the same rows, or an error, with parts of any size."""
    seeds = range(examples(1_000))
    whole = [outcome(written(seed)) for seed in seeds]
    request.getfixturevalue("small_parts")
    assert 0.1 < whole.count("error") / len(whole) < 0.9
    for seed in seeds:
        assert outcome(written(seed)) == whole[seed], seed


def _of_two_structures(change: Callable[[list[dict[str, Any]]], object]) -> list[str]:
    """Return the structure of each row of a message with two data sets that name none, and two structures."""
    dimensions = {"observation": [{"id": "A", "values": [{"id": "x"}]}]}
    structures: list[dict[str, Any]] = [
        {
            "dimensions": dimensions,
            "links": [{"urn": f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=T:{id_}(1.0)"}],
        }
        for id_ in ("F", "G")
    ]
    change(structures)
    data = {"structures": structures, "dataSets": [{"observations": {"0": [1]}}] * 2}
    return [row["STRUCTURE_ID"] for _, row in located_rows(json.dumps({"data": data}).encode())]


def test_a_data_set_without_a_structure_has_the_first() -> None:
    """Field guide 2.1: the first structure is assumed, unless structures list their data sets."""
    assert _of_two_structures(lambda structures: None) == ["T:F(1.0)", "T:F(1.0)"]
    assert _of_two_structures(lambda structures: structures[0].update(dataSets=[1])) == ["T:G(1.0)", "T:F(1.0)"]
    assert _of_two_structures(lambda structures: structures[1].update(dataSets=[0, 1])) == ["T:G(1.0)", "T:G(1.0)"]
    with pytest.raises(DatasetError, match=r"dataSets\[0\]: it does not name one of the 2 structures"):
        _of_two_structures(lambda structures: [structure.update(dataSets=[1]) for structure in structures])


def simple(observations: str, more: str = "", at_series: str = "") -> bytes:
    """Return a message with the dimensions A (a0 to a99) and T (t0 to t99), flat or with series."""
    values = {name: {"id": name, "values": [f"{name.lower()}{at}" for at in range(100)]} for name in "AT"}
    levels = {"series": [values["A"]], "observation": [values["T"]]}
    structure = json.dumps({"dimensions": levels})
    series = f'"series": {{{at_series}}}' if at_series else f'"observations": {{{observations}}}'
    return f'{{"dataSets": [{{{series}{more}}}], "structures": [{structure}]}}'.encode()


def observations(*values: object) -> str:
    """Return observations of all values, with different keys."""
    return ", ".join(f'"{at // 100}:{at % 100}": [{value}]' for at, value in enumerate(values))


def series(*members: str) -> str:
    """Return a series with each of these members, with different keys."""
    return ", ".join(f'"{at}": {{"observations": {{"0": [{at}]}}{member}}}' for at, member in enumerate(members))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "data",
    [
        simple(f'{observations(*range(30))}, "0:0": [1]'),
        simple("", at_series=f'{series(*[""] * 9)}, "0": {{"observations": {{"0": [0]}}}}'),
    ],
    ids=["observations with different values", "series"],
)
def test_a_key_that_is_repeated_in_another_part_is_an_error(data: bytes) -> None:
    """The second member is far from the first, and would otherwise be read as another row."""
    with pytest.raises(DatasetError, match="occurs twice in one object"):
        located_rows(data)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("kind", ["flat", "series"])
def test_texts_that_look_like_the_end_of_a_member_are_read(kind: str) -> None:
    """A text may end with a bracket and a comma, and the next one begin with a colon and a bracket."""
    text = '1, 7, 8, 9, 10, {"],": ":[x"}' if kind == "flat" else '1, 7, 8, 9, 10, {"},": ":{x"}'
    texts = {"],": ":[x"} if kind == "flat" else {"},": ":{x"}
    measures = [{"id": name} for name in "VWXYZN"]
    members = observations(*[text] * 50) if kind == "flat" else series(*[f', "own": [{text}]'] * 50)
    data = json.loads(simple(members) if kind == "flat" else simple("", "", members))
    data["structures"][0]["measures"] = {"observation": measures}
    rows = located_rows(json.dumps(data).encode())
    assert len(rows) == 50
    assert kind == "series" or all(row["N"] == texts for _, row in rows)


@pytest.mark.usefixtures("small_parts")
def test_an_observation_that_is_repeated_in_another_part_with_the_same_values_is_read_once() -> None:
    """Its rows are those of a message that is read in one part, in which the decoder keeps one of the two."""
    found = located_rows(simple(f'{observations(*range(30))}, "0:0": [0]'))
    assert [row["OBS_VALUE"] for _, row in found] == [str(at) for at in range(30)]


def test_keys_of_several_parts_are_compared() -> None:
    """Each key that is in several parts is found, and no other, among all that are added."""
    hashes, dice = KeyHashes(), random.Random(3)
    repeated = {f"r{at}" for at in range(20)}
    for part in range(50):
        hashes.add(
            [f"{part}:{at}" for at in range(dice.randrange(300))] + (sorted(repeated) if part in {7, 40} else [])
        )
    assert hashes.repeated() == set(map(hash, repeated))


@pytest.mark.usefixtures("small_parts")
def test_members_of_later_series_are_noted_or_refused() -> None:
    """A service may extend SDMX-JSON; a name that is almost like a known one is an error, also in a later part."""
    notes: list[str] = []
    located_rows(simple("", ', "own": 1', series(*[""] * 20, ', "total": 3', ', "total": 4')), notes)
    assert notes == [
        "dataSets[0] has the member 'own', which SDMX-JSON does not define; it is not read",
        "dataSets[0].series[\"20\"] has the member 'total', which SDMX-JSON does not define; it is not read",
    ]
    with pytest.raises(
        DatasetError, match=r'series\["20"\]: \'Attributes\' is not a member.*did you mean \'attributes\''
    ):
        located_rows(simple("", "", series(*[""] * 20, ', "Attributes": [3]')))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"], ids=["", "after a byte order mark"])
@pytest.mark.parametrize(
    "data",
    [
        simple(observations(*range(40), "?", 1)),
        simple(observations("NaN", *range(40), "1, -Infinity", "?", 1)),
        simple("", "", series(*[""] * 30, ', "attributes": ?', "")),
        simple(observations(*range(30)), ', "attributes": ?'),
        simple(observations("NaN", *range(30)), ', "attributes": [NaN, NaN, ?]'),
        simple(observations(*range(30)))[:-1] + b"?",
        simple(f"{observations(*range(30))} ?"),
        simple(f"{observations(*range(30))}, ?"),
        simple("?"),
    ],
)
def test_the_place_of_damage_is_that_in_the_file(data: bytes, before: bytes) -> None:
    """The error names the damaged byte, also after parts, and after NaN, for which a text was put in place."""
    with pytest.raises(DatasetError, match=r"is damaged: .*\(byte \d+\)") as error:
        located_rows(before + data)
    place = re.search(r"byte (\d+)", str(error.value))
    assert place is not None
    assert int(place[1]) == (before + data).index(b"?")


class CountedText(MessageText):
    """A text that counts how often it is read."""

    reads = 0

    def read(self, place: int, size: int) -> bytes:
        """Return what is there."""
        self.reads += 1
        return super().read(place, size)


@pytest.mark.usefixtures("small_parts")
def test_a_long_text_is_not_searched_again_and_again() -> None:
    """Each time that a text is longer than what was read, as much is read as before."""
    text = CountedText(io.BytesIO(b'{"a": "' + b"x" * 50_000 + b'", "b": [1]}'))
    assert len(Outline(text, "m").text) > 50_000
    assert text.reads < 50


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-be"])
def test_text_that_is_not_in_its_encoding_is_an_error(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the encoding and the place; the text is decoded in parts."""
    monkeypatch.setattr("kafka_replica.data.files.messages.json.message_text._PART", 7)
    data = simple(observations(*range(30))).decode().encode(encoding)
    assert len(located_rows(data)) == 30
    with pytest.raises(DatasetError, match=rf"it is not {encoding}.*: truncated data \(byte {len(data)}\)"):
        located_rows(data + b"0")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["flat", "series"])
def test_an_outline_is_short(kind: str) -> None:
    """The outline has no observations; they are cut into parts, each about a MiB long."""
    many = observations(*["1.5, " + "0, " * 200 + "0"] * 9_000)
    data = (
        simple(many) if kind == "flat" else simple("", "", series(*[', "annotations": [' + "0, " * 300 + "0]"] * 9_000))
    )
    outline = Outline(MessageText(io.BytesIO(data)), "m")
    assert len(outline.text) < 5_000
    assert b'{"number":0}' in outline.text
    (found,) = outline._objects
    sizes = [part.end - part.start for part in found._parts]
    assert len(sizes) > 5
    assert max(sizes) <= 1 << 20
    assert sum(sizes) > len(data) - 10_000
