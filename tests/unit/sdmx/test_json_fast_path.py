"""The fast path for JSON agrees with the full parser, handles the usual cases, and leaves the rest to the parser."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, get_args

import msgspec
import pytest

from kafka_replica.sdmx import Format, Message, read_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion import classes as fusion_classes
from kafka_replica.sdmx.formats.fusion import reader as fusion
from kafka_replica.sdmx.formats.json_shared.fast_path import try_fast_path
from kafka_replica.sdmx.formats.json_shared.format_detection import opened
from kafka_replica.sdmx.formats.sdmx_json import classes as sdmx_json_classes
from kafka_replica.sdmx.formats.sdmx_json import reader as sdmx_json
from kafka_replica.sdmx.messages.format import unpacked
from support.paths import SDMX_DATA
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.sdmx_json_samples import SAMPLE, message

FUSION = (SDMX_DATA / "every_class.fusion.json").read_bytes()
ALL = rows(("fusion-json", ""), ("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1"))


def short_way(data: bytes) -> Message | None:
    """Return the result of the fast path."""
    return try_fast_path(sdmx_json.read_fast if b'"data"' in data else fusion.read_fast, data, None)


def long_way(data: bytes) -> Message:
    """Return the result of the full parser."""
    outer = opened(data, None)
    room: Any = fusion if outer.format is Format.FUSION_JSON else sdmx_json
    found: Message = room.read_message(outer)
    return found


def written(data: bytes, style: str) -> bytes:
    """Return the data with other whitespace."""
    styles: dict[str, dict[str, Any]] = {
        "compact": {"separators": (",", ":")},
        "usual": {},
        "indented": {"indent": "\t"},
    }
    how = styles[style]
    return json.dumps(json.loads(data), ensure_ascii=False, **how).encode()


@pytest.mark.parametrize("style", ["compact", "usual", "indented"])
@pytest.mark.parametrize("format_", ["SDMX-JSON", "Fusion-JSON"])
def test_both_ways_agree(format_: str, style: str) -> None:
    """The fast path and the general reader agree on artefacts of every class, with any whitespace."""
    whole = json.loads(message(SAMPLE) if format_ == "SDMX-JSON" else FUSION)
    held = whole["data"] if format_ == "SDMX-JSON" else {name: value for name, value in whole.items() if name != "meta"}
    taken = 0
    for name, artefacts in held.items():
        part = {name: artefacts}
        body = {"meta": whole["meta"], **({"data": part} if format_ == "SDMX-JSON" else part)}
        data = written(json.dumps(body).encode(), style)
        found, other = short_way(data), long_way(data)
        if found is not None:
            taken += 1
            assert list(found) == list(other)
            assert (found.header, found.format) == (other.header, other.format)
    assert taken > len(held) * 0.6, f"the fast path took {taken} of {len(held)} messages"


@pytest.mark.parametrize("row", ALL)
def test_both_ways_agree_on_real_files(row: dict[str, str]) -> None:
    """The fast path declines a real file, or agrees with the full parser."""
    data = unpacked(data_of(row)).lstrip()
    found = short_way(data)
    if found is not None:
        other = long_way(data)
        assert list(found) == list(other)
        assert (found.header, found.format) == (other.header, other.format)


GOOD = b'{"meta": {"id": "M"}, "data": {"codelists": [{"id": "CL", "agencyID": "A", "codes": [{"id": "X"}]}]}}'
BAD: dict[str, tuple[bytes, bytes]] = {
    "data twice": (b'"meta": {"id": "M"}', b'"data": {}, "meta": {"id": "M"}'),
    "list twice": (b'"codelists": [', b'"codelists": [], "codelists": ['),
    "id twice": (b'"id": "CL"', b'"id": "OTHER", "id": "CL"'),
    "id twice, escaped": (b'"id": "CL"', b'"\\u0069d": "OTHER", "id": "CL"'),
    "id twice, the same": (b'"id": "CL"', b'"id":"CL","id":"CL"'),
    "no agency": (b'"agencyID": "A", ', b""),
    "agency is a list": (b'"A"', b"[1]"),
    "urn is a list": (b'"id": "CL"', b'"id": "CL", "urn": [5]'),
    "code twice": (b'{"id": "X"}', b'{"id": "X"}, {"id": "X"}'),
    "not UTF-8": (b'"X"', b'"X", "other": "\xff"'),
    "code is a number": (b'{"id": "X"}', b"7"),
}


@pytest.mark.parametrize("name", BAD)
def test_the_short_way_lets_nothing_through(name: str) -> None:
    """Invalid messages are declined by the fast path, and refused with a reason by the full parser."""
    assert short_way(GOOD) is not None
    bad = GOOD.replace(*BAD[name], 1)
    assert bad != GOOD
    assert short_way(bad) is None
    with pytest.raises(MessageError):
        read_message(bad)


def test_a_name_that_only_looks_twice() -> None:
    """Whitespace, braces and names inside texts do not confuse the fast path."""
    odd = GOOD.replace(b"{", b" {\n ").replace(b'"id": "X"', b'"id": "X", "name": "a \\" {\\"id\\": 1}, \\n  b"')
    found = short_way(odd)
    assert found is not None
    assert list(found) == list(long_way(odd))


@pytest.mark.parametrize("format_", ["SDMX-JSON", "Fusion-JSON"])
def test_structs_encode_nothing_that_they_did_not_read(format_: str) -> None:
    """No struct adds a member or a colon when it is encoded again, so that equal counts prove that none was dropped."""
    readers: Any = fusion_classes.READERS if format_ == "Fusion-JSON" else sdmx_json_classes.READERS
    seen: set[type] = set()
    for decoder, _ in readers.values():
        _check_struct(decoder.type, seen)
    assert len(seen) > 40


def _check_struct(struct: Any, seen: set[type]) -> None:
    if struct in seen:
        return
    seen.add(struct)
    config = struct.__struct_config__
    assert config.omit_defaults, struct
    assert config.tag is None, struct
    for field in msgspec.structs.fields(struct):
        assert not field.required, (struct, field)
        assert ":" not in field.encode_name
        _check_type(field.type, seen)
    assert msgspec.json.encode(msgspec.json.decode(b"{}", type=struct)) == b"{}", struct


def _check_type(type_: Any, seen: set[type]) -> None:
    for part in get_args(type_):
        _check_type(part, seen)
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        _check_struct(type_, seen)
    # Others, such as times, may be written in another way than they were read.
    elif not get_args(type_):
        assert type_ in {str, int, bool, float, Decimal, dict, type(None), msgspec.Raw, Any}, type_


UNUSUAL: dict[str, tuple[bytes, bytes]] = {
    "an unknown member": (b'"id": "X"', b'"id": "X", "other": {"a": 1}'),
    "a member that is null": (b'"id": "X"', b'"id": "X", "parent": null'),
    "an unknown member of the header": (b'"id": "M"', b'"id": "M", "other": "a:b"'),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_members_that_structs_do_not_keep(name: str) -> None:
    """Members that the structs do not keep are no reason to decline, but names repeated next to them or in them are."""
    unusual = GOOD.replace(*UNUSUAL[name], 1)
    assert unusual != GOOD
    assert short_way(unusual) is not None
    for good, bad in ((b'"id": "CL"', b'"id": "OTHER", "id": "CL"'), (b'"a": 1', b'"a": 1, "a": 2')):
        if good in unusual:
            assert short_way(unusual.replace(good, bad, 1)) is None


def long_message(**last: Any) -> dict[str, Any]:
    """Return a message above the length of short ones, with texts that are not ASCII."""
    codes = [{"id": f"C{n}", "name": f"catégorie € {n} " * 5} for n in range(2000)]
    return json.loads(GOOD) | {"data": {"codelists": [{"id": "CL", "agencyID": "A", "codes": codes, **last}]}}


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["compact", "usual", "indented"])
def test_a_long_message(style: str) -> None:
    """A long message takes the fast path, whatever its whitespace; its faults are still refused."""
    data = written(json.dumps(long_message(version="1.0")).encode(), style)
    assert len(data) > 3 * (1 << 16)
    found = short_way(data)
    assert found is not None
    assert list(found) == list(long_way(data))
    colon = b'"version":' if style == "compact" else b'"version": '
    for good, bad in (
        (colon, b'"id": "OTHER", ' + colon),
        ("catégorie € 900 ".encode(), b"cat\xc3"),
        (b'"C1999"', b'"C1"'),
        (b'"C1999"', b'"\xed\xa0\x80"'),
    ):
        assert good in data
        wrong = data.replace(good, bad, 1)
        assert short_way(wrong) is None
        with pytest.raises(MessageError):
            read_message(wrong)


@pytest.mark.thorough
def test_letters_across_the_pieces_that_are_checked() -> None:
    """A multi-byte character may cross the border of checked pieces; half a character at the end is damage."""
    for shift in range(8):
        message_ = long_message(version="1.0", name="x" * shift + "€" * 50_000)
        data = json.dumps(message_, ensure_ascii=False).encode()
        found = short_way(data)
        assert found is not None
        assert next(iter(found)).name() == "x" * shift + "€" * 50_000
    assert short_way(data[:-1] + b"\xe2") is None


@pytest.mark.parametrize("style", ["compact", "usual", "indented"])
def test_both_json_formats_are_recognised(style: str) -> None:
    """SDMX-JSON and Fusion-JSON are recognised in any order of their outer members, with any single class."""
    fusion_ = {"Codelist": [{"id": "CL", "agencyId": "A", "version": "1.0", "items": [{"id": "X"}]}]}
    sdmx = {"codelists": [{"id": "CL", "agencyID": "A", "version": "1.0", "codes": [{"id": "X"}]}]}
    meta: dict[str, Any] = {"meta": {"id": "M", "sender": {"id": "S"}}}
    listed: dict[str, Any] = {"meta": {"id": "M", "contentLanguages": ["en"]}}
    for whole, format_ in [
        (meta | fusion_, Format.FUSION_JSON),
        (fusion_ | meta, Format.FUSION_JSON),
        (fusion_, Format.FUSION_JSON),
        (listed | {"data": sdmx}, Format.SDMX_JSON_2_0),
        ({"data": sdmx} | listed, Format.SDMX_JSON_2_0),
        ({"data": sdmx, "errors": []}, Format.SDMX_JSON_2_0),
        ({"data": sdmx}, Format.SDMX_JSON_2_0),
    ]:
        found = read_message(written(json.dumps(whole).encode(), style))
        assert found.format is format_
        assert [(str(one.urn.reference), list(one.codes)) for one in found] == [("A:CL(1.0)", ["X"])]  # type: ignore[attr-defined]
