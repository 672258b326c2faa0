"""The targets: the inputs of each reader, and the allowed results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from fuzz import texts, trees, workbooks
from fuzz.data_files import FORMATS, data_samples, feed_of
from fuzz.samples import URNS, samples_of
from kafka_replica.sdmx import Format, Message, Urn, read_message, split_message, split_readable
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats import sdmx_ml
from kafka_replica.sdmx.formats.fusion import reader as fusion
from kafka_replica.sdmx.formats.json_shared.fast_path import try_fast_path
from kafka_replica.sdmx.formats.json_shared.format_detection import opened
from kafka_replica.sdmx.formats.sdmx_json import reader as sdmx_json
from kafka_replica.sdmx.messages.format import unpacked

Make = Callable[[Sequence[bytes], int], bytes]
_SEEDS: Final = st.integers(0, 2**32)


@dataclass(frozen=True)
class Target:
    """A reader: how inputs are made, and how each is processed. Any exception it raises is a finding."""

    name: str
    inputs: st.SearchStrategy[bytes]
    feed: Callable[[bytes], None]


def read(data: bytes) -> None:
    """Read everything, including what is created at first use. Collecting errors must agree with raising them."""
    message = None
    with contextlib.suppress(SdmxError):
        message = read_message(data)
        for artefact in message:
            repr(artefact)
            hash(artefact)
            if artefact != artefact:  # noqa: PLR0124 - it makes what is made late
                raise AssertionError(f"{artefact.urn} is not equal to itself")
    _must_collect(data, message)


def _must_collect(data: bytes, message: Message | None) -> None:
    """Raise AssertionError unless reading with ``collect`` finds errors exactly where reading fails."""
    try:
        collected = read_message(data, on_error="collect")
    except SdmxError as error:
        if message is not None:
            raise AssertionError(f"{message} cannot be read when errors are collected: {error}") from error
        return
    if message is None and not collected.errors:
        raise AssertionError(f"{collected} has no errors, and cannot be read when errors are raised")
    if message is not None and (list(collected) != list(message) or collected.errors):
        raise AssertionError(f"{message} is {collected} when errors are collected")


def read_json(data: bytes) -> None:
    """Read as above, and check that the fast path finds nothing else than the slow path."""
    read(data)
    way = sdmx_json.read_fast if b'"data"' in data[:4096] else fusion.read_fast
    try:
        plain = unpacked(data).lstrip()
    except SdmxError:
        return
    found = try_fast_path(way, plain, None)
    if found is not None:
        message = opened(plain, None)
        is_fusion = message.format is Format.FUSION_JSON
        _must_agree(found, fusion.read_message(message) if is_fusion else sdmx_json.read_message(message))


def read_ml(data: bytes) -> None:
    """Read as above; what the fast path accepts must be well-formed for libxml2, too, with the same content."""
    read(data)
    found = sdmx_ml.read_fast(data)
    if found is not None:
        _must_agree(found, sdmx_ml.read_message(data))


def _must_agree(found: Message, other: Message) -> None:
    if list(found) != list(other) or (found.header, found.format) != (other.header, other.format):
        raise AssertionError(f"the fast path finds {found}, the slow path {other}, and they are not equal")


def cut(data: bytes) -> None:
    """Split; each part must contain the artefact it is labelled with, and be readable where that was promised."""
    with contextlib.suppress(SdmxError):
        for part in split_readable(data).parts:
            try:
                held = list(read_message(part.value, part.content_type).artefacts)
            except SdmxError as error:
                raise AssertionError(f"the part of {part.urn} cannot be read: {error}") from error
            if held != [part.urn]:
                raise AssertionError(f"the readable part of {part.urn} holds {held}")
    try:
        parts = split_message(data)
    except SdmxError:
        return
    for part in parts:
        with contextlib.suppress(SdmxError):
            held = list(read_message(part.value, part.content_type).artefacts)
            if held != [part.urn]:
                raise AssertionError(f"the part of {part.urn} holds {held}")


def urn(data: bytes) -> None:
    """Parse a URN; a parsed URN is written as it was."""
    with contextlib.suppress(SdmxError):
        found = Urn.parse(data)
        if bytes(found) != data:
            raise AssertionError(f"{data!r} is read as {found}")
        hash(found)
        _ = found.maintainables, found.reference


def _made(format_: str, *ways: Make) -> st.SearchStrategy[bytes]:
    return _changed(samples_of(format_), *ways)


def _changed(samples: Sequence[bytes], *ways: Make) -> st.SearchStrategy[bytes]:
    def by(way: Make) -> st.SearchStrategy[bytes]:
        return _SEEDS.map(lambda seed: way(samples, seed))

    return st.one_of([by(way) for way in (*ways, texts.spliced)])


def _urns() -> st.SearchStrategy[bytes]:
    like = st.from_regex(r"urn:sdmx:org\.sdmx\.infomodel\.[a-z]+\.[A-Za-z]+=[A-Z.]+:[A-Z_]+\([0-9.*+]+\)(\.[A-Z.]+)?")
    near = _SEEDS.map(lambda seed: texts.spliced([urn.encode() for urn in URNS], seed))
    return st.one_of(near, like.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=80))


_WAYS: Final[dict[str, Make]] = {
    "ml": trees.xml, "ml20": trees.xml, "ml10": trees.xml, "edi": texts.edi, "sdmx_json": trees.json_text,
    "fusion": trees.json_text, "xlsx": workbooks.xlsx,
}  # fmt: skip

_FEEDS: Final = {"ml": read_ml, "sdmx_json": read_json, "fusion": read_json}

_DATA_WAYS: Final[dict[str, Make]] = {"data_ml": trees.xml, "data_json": trees.json_text, "data_edi": texts.edi}

TARGETS: Final[dict[str, Target]] = {
    **{name: Target(name, _made(name, way), _FEEDS.get(name, read)) for name, way in _WAYS.items()},
    **{
        name: Target(name, _changed(data_samples(name), _DATA_WAYS.get(name, texts.spliced)), feed_of(name))
        for name in FORMATS
    },
    "urn": Target("urn", _urns(), urn),
    "split_message": Target("split_message", st.one_of([_made(name, way) for name, way in _WAYS.items()]), cut),
}
