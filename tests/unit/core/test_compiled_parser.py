"""The compiled parser of record batches accepts, rejects and returns the same as the path in Python."""

from __future__ import annotations

import gc
import os
import random
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import ConfigurationError
from kafka_replica.broker.reading import record_parsing
from kafka_replica.broker.reading.decompression import DECODERS
from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.common import compiled
from kafka_replica.common.compiled import HEAP, PARSER, SCANNER, VARIABLE, CompiledParser
from kafka_replica.common.record_fields import PlainRecordFields
from kafka_replica.errors import DataError
from kafka_replica.records import Partition, Record, as_record
from kafka_replica.stores.packed_headers import pack_headers, unpack_headers
from support.core.batch_bytes import HEAD_BYTES, Written, batch_bytes, record_bytes, varint
from support.core.leaks import assert_no_leaks
from support.effort import examples, usual_or_long

SOURCE = Partition("t", 3)
I32, I64 = (1 << 31) - 1, (1 << 63) - 1
LOG_APPEND_TIME = 8
WORDS = "", "name", "größe", "Gr\udcf6\udcdfe", "x" * 200
NOT_UTF_8 = [Written(b"key", b"value", n, n, (("\udce4", b"v"), ("n", None))) for n in range(3)]
needs_parser = pytest.mark.skipif(PARSER is None, reason="NOT TESTED: the compiled parser was not built")

bytes_or_null = st.none() | st.binary(max_size=40) | st.sampled_from([b"", b"v" * 127, b"v" * 128, b"v" * 300])
written = st.builds(
    Written,
    key=bytes_or_null,
    value=bytes_or_null,
    offset_delta=st.integers(0, 200) | st.sampled_from([-1, I32, -I32, I64]),
    timestamp_delta=st.sampled_from([0, 0, 0, 1, -1, -5_000, I32, I64, -I64 - 1]) | st.integers(-I64 - 1, I64),
    headers=st.lists(st.tuples(st.sampled_from(WORDS), bytes_or_null), max_size=3).map(tuple),
    attributes=st.sampled_from([0, 0, 1, -1, I64]),
)
batches = st.builds(
    batch_bytes,
    st.lists(written, max_size=4).flatmap(lambda made: st.permutations(made * 2)),
    base_offset=st.sampled_from([0, 5, 1 << 40, I64 - 300, -1]),
    first_timestamp=st.sampled_from([0, -1, 1_700_000_000_000]),
    max_timestamp=st.sampled_from([0, -1, 1_700_000_000_000, I64]),
    codec_number=st.sampled_from([0, 0, 0, 1, 2, 3, 4]),
    attributes=st.sampled_from([0, LOG_APPEND_TIME, 16, 16 | LOG_APPEND_TIME]),
)


def parsed(data: bytes, parser: CompiledParser | None, from_offset: int = 0) -> list[Record] | None:
    """Return the records of a batch, or None if it is damaged. A view in the middle shows reads beyond its end."""
    around = b"\xff" * 16 + data + b"\xff" * 16
    view = memoryview(around)[16:-16]
    try:
        return [
            as_record(parse_record, SOURCE) for parse_record in parse_records(view, SOURCE, from_offset, parser=parser)
        ]
    except DataError:
        return None


def assert_same(data: bytes, from_offset: int = 0) -> list[Record] | None:
    """Compare the two parsers, the types of the fields too; return what they found."""
    expected, found = parsed(data, None, from_offset), parsed(data, PARSER, from_offset)
    assert found == expected, data.hex()
    for one, other in zip(found or (), expected or (), strict=True):
        assert type(one) is type(other) is Record
        assert list(map(type, one)) == list(map(type, other))
        assert hash(one) == hash(other)
        assert one.headers == other.headers
        assert all(type(header) is tuple for header in one.headers)
    return found


def one_timestamp(timestamp_ms: int) -> dict[str, Any]:
    """Return the arguments of a batch whose records share a timestamp."""
    return {"first_timestamp": timestamp_ms, "max_timestamp": timestamp_ms}


@pytest.mark.thorough
@needs_parser
@settings(max_examples=examples(400), deadline=None)
@given(batches, st.sampled_from([0, 0, 7, 1 << 40, -3]))
def test_every_shape(data: bytes, from_offset: int) -> None:
    """Null and empty fields, headers of all kinds, both times, negative and huge deltas, every codec, a later start."""
    assert_same(data, from_offset)


@needs_parser
def test_records_are_read_as_written() -> None:
    """The records are those that were encoded: this does not depend on the other parser."""
    headers = (("a", b"1"), ("a", None), ("é", b""))
    records = [Written(b"k", b"v", 0, 0, headers), Written(None, None, 2, -3, headers), Written(b"", b"", 4, 10)]
    data = batch_bytes(records, base_offset=100, first_timestamp=50, max_timestamp=60)
    assert parsed(data, PARSER) == [
        Record(b"k", b"v", 100, 50, headers, SOURCE),
        Record(None, None, 102, 47, headers, SOURCE),  # type: ignore[arg-type]
        Record(b"", b"", 104, 60, (), SOURCE),
    ]
    assert [one.offset for one in parsed(data, PARSER, 102) or ()] == [102, 104]


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("parser", [None, *([PARSER] if PARSER is not None else [])])
def test_header_names_that_are_not_utf_8(parser: CompiledParser | None, number: int) -> None:
    """Brokers do not check the names of headers: no byte of such a name is lost, and its batch is not damaged."""
    names = [name.decode(errors="surrogateescape") for name in (b"Gr\xf6\xdfe", b"\xff", b"\xed\xa0\x80", b"ok")]
    headers = tuple((name, b"%d" % at) for at, name in enumerate(names))
    records = [Written(b"k", b"new", 0, 5), Written(b"other", None, 3, -5, headers)]
    data = batch_bytes(records, base_offset=100, first_timestamp=50, max_timestamp=55, codec_number=number)
    assert [tuple(record[:5]) for record in parse_records(data, SOURCE, parser=parser)] == [
        (b"k", b"new", 100, 55, ()),
        (b"other", None, 103, 45, headers),
    ]
    assert [record[2] for record in parse_records(data, SOURCE, 101, parser=parser)] == [103]
    assert unpack_headers(pack_headers(headers)) == headers


@needs_parser
def test_every_truncation_of_a_batch_with_a_name_that_is_not_utf_8() -> None:
    """A batch that ends at any byte is rejected by both: the path in Python has a parser for such names."""
    content = b"".join(map(record_bytes, NOT_UTF_8))
    for end in range(len(content)):
        assert assert_same(batch_bytes(NOT_UTF_8, content=content[:end])) is None
    assert assert_same(batch_bytes(NOT_UTF_8, content=content + b"\0")) is None
    assert assert_same(batch_bytes([*NOT_UTF_8, Written()], content=content)) is None
    assert_same(batch_bytes(NOT_UTF_8, **one_timestamp(9), attributes=LOG_APPEND_TIME))


@pytest.mark.parametrize("parser", [None, *([PARSER] if PARSER is not None else [])])
def test_the_first_record_may_be_the_newest(parser: CompiledParser | None) -> None:
    """The first and the greatest timestamp of a batch are equal then, although its records have several."""
    records = [Written(b"%d" % n, b"v", n, delta) for n, delta in enumerate((0, -600, -100))]
    data = batch_bytes(records, first_timestamp=1000, max_timestamp=1000)
    assert [record[3] for record in parse_records(data, SOURCE, parser=parser)] == [1000, 400, 900]


@needs_parser
def test_every_truncation() -> None:
    """A batch that ends at any byte, alone or with a longer record count, is rejected by both."""
    records = [Written(b"key", b"value", n, n, (("h", b"v"), ("n", None))) for n in range(3)]
    content = b"".join(map(record_bytes, records))
    for end in range(len(content)):
        assert assert_same(batch_bytes(records, content=content[:end])) is None
        for number in (1, 2, 3, 4):
            assert assert_same(batch_bytes(records, codec_number=number, content=content[:end])) is None
    assert assert_same(batch_bytes(records, content=content + b"\0")) is None


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("parser", [None, PARSER])
def test_damaged_compression(number: int, parser: CompiledParser | None) -> None:
    """Each codec's own exception for damaged data becomes an error that names partition and offset."""
    data = bytearray(batch_bytes([Written(b"k", b"v" * 100)] * 20, base_offset=7, codec_number=number))
    data[HEAD_BYTES:] = b"\x05\x01damaged" * 3
    with pytest.raises(DataError, match=r"the batch of t-3 at offset 7 is damaged: .*kafka-dump-log\.sh"):
        parse_records(bytes(data), SOURCE, parser=parser)


@pytest.mark.parametrize("parser", [None, PARSER])
def test_a_lack_of_memory_is_no_damage(parser: CompiledParser | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A good batch is not reported as damaged, and so not left out, because this machine has too little memory."""

    def exhaust(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setitem(DECODERS, 1, exhaust)
    monkeypatch.setattr(record_parsing, "_columns", exhaust)
    with pytest.raises(MemoryError):
        parse_records(batch_bytes([Written(b"k", b"v")], codec_number=1), SOURCE, parser=parser)
    assert len(parse_records(batch_bytes([Written(b"k", b"v")]), SOURCE, parser=parser)) == 1


@pytest.mark.parametrize("parser", [None, PARSER])
def test_an_unknown_compression(parser: CompiledParser | None) -> None:
    """A codec that does not exist is another error than damage."""
    data = bytearray(batch_bytes([Written(b"k", b"v")]))
    data[22] |= 7
    with pytest.raises(DataError, match="the batches of t-3 have a compression that cannot be read"):
        parse_records(bytes(data), SOURCE, parser=parser)


@pytest.mark.thorough
@needs_parser
@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("number", [-I64 - 1, -2, -1, 0, 1, 99, 1 << 20, I32, I32 + 1, 1 << 40, I64 - 40, I64])
def test_every_number_of_a_record(at: int, number: int) -> None:
    """Any value of each number of a record, encoded briefly or at length, is judged alike: no length is trusted."""
    for least_bytes in (1, 5, 10, 11):
        numbers = [varint(0), varint(0), varint(0), varint(1) + b"k", varint(1) + b"v", varint(0)]
        made = [*numbers]
        if at:
            made[at - 1] = varint(number, least_bytes) + made[at - 1][1:]
        length = varint(number, least_bytes) if not at else varint(sum(map(len, made)))
        assert_same(batch_bytes([Written(), Written()], content=length + b"".join(made) + record_bytes(Written(b"x"))))


@needs_parser
@pytest.mark.scaled
def test_random_mutations() -> None:
    """Random changes of batches are accepted or rejected alike, with the same content; nothing crashes."""
    dice = random.Random(4)
    seeds = [
        batch_bytes([], base_offset=3),
        batch_bytes([Written(b"k", b"v")], **one_timestamp(9)),
        batch_bytes([Written(b"k%d" % n, b"v" * n, n, n % 3, (("h", b"1"), ("n", None))) for n in range(8)]),
        batch_bytes([Written(b"key", None, n, 0, (("type", b"x"),)) for n in range(8)], **one_timestamp(5)),
    ]
    accepted = 0
    for _ in range(usual_or_long(6_000, 30_000, 500_000)):
        data = bytearray(dice.choice(seeds))
        for _ in range(dice.choice((1, 1, 1, 2, 5))):
            mutate(data, dice)
        accepted += assert_same(bytes(data)) is not None
    assert accepted > 500


def mutate(data: bytearray, dice: random.Random) -> None:
    """Change, delete or insert a byte behind the head, or change the head where it matters."""
    at = dice.randrange(HEAD_BYTES, len(data)) if len(data) > HEAD_BYTES else HEAD_BYTES - 1
    match dice.randrange(8):
        case 0 if len(data) > HEAD_BYTES:
            del data[at]
        case 1:
            data.insert(at, dice.randrange(256))
        case 2:
            data[dice.choice((*range(8), 22, *range(27, 43), *range(57, 61)))] = dice.randrange(256)
        case 3:
            data[at] ^= 1 << dice.randrange(8)
        case _:
            data[at] = dice.choice((0, 1, 2, 0x7F, 0x80, 0xFF, dice.randrange(256)))
    data[22] &= ~7 & 0xFF  # decompressing is not what is tested


@needs_parser
def test_nothing_is_leaked() -> None:
    """Memory stays as it is, whether batches are accepted or rejected; the shared objects keep their count."""
    good = batch_bytes([Written(b"k%d" % n, b"v" * 600, n, n, (("h", b"%d" % n),)) for n in range(20)])
    bad = [good[:-cut] for cut in (1, 10, 300, 640)] + [good[:62] + b"\xff" * 20 + good[82:]]
    odd_name = batch_bytes([Written(b"k", b"v", 0, 0, (("h", b"1"),))]).replace(b"h", b"\xff")

    source = Partition("leaks", 7)

    def work() -> None:
        assert PARSER is not None
        changes: dict[bytes, Record] = {}
        PARSER.parse(odd_name, None, 0, Record, source)
        for data in bad:
            for from_offset in (0, 5):
                with pytest.raises(ValueError, match=r"batch|record|number|header|codec"):
                    PARSER.parse(data, None, from_offset, Record, source)
        for from_offset in (0, 5):
            PARSER.add(changes, PARSER.parse(good, None, from_offset, Record, source))
        with pytest.raises(TypeError):
            PARSER.add(changes, [("key",)])
        records = PARSER.parse(good, None, 0, Record, source)
        for batches, outcome in (([records[:5], records[5:]], (20, 0)), ([records, records[:3]], None)):
            assert PARSER.add_new({}, batches) == outcome
        with pytest.raises(TypeError):
            PARSER.add_new({}, [[("key",)]])
        assert PARSER.record_ends(good[HEAD_BYTES:] + b"==", [20], b"==") == [len(good) - HEAD_BYTES]
        with pytest.raises(ValueError, match="number of records"):
            PARSER.record_ends(good[HEAD_BYTES:], [5, 20], b"\0")

    assert_no_leaks(work, source)


@needs_parser
def test_the_collector_does_not_see_records() -> None:
    """Records and their headers are not tracked, equal headers exist once, and records are small."""
    data = batch_bytes([Written(b"k%d" % n, b"v", n, 0, (("h", b"1"),)) for n in range(3)], **one_timestamp(1 << 40))
    records: Sequence[Record] = parsed(data, PARSER) or ()
    assert not any(
        gc.is_tracked(record) or gc.is_tracked(record.headers) or gc.is_tracked(record.headers[0]) for record in records
    )
    assert len({id(record.headers) for record in records}) == 1
    assert {record.__sizeof__() for record in records} == {48}


@needs_parser
def test_far_apart_records_of_a_batch() -> None:
    """Neighbours share the base of offsets and timestamps only if the differences fit into 32 bits."""
    far = [0, I32, I32 + 1, -I32 - 1, -I32 - 2, I64, 5, -I64]
    data = batch_bytes([Written(b"k", b"v", n % 7, delta) for n, delta in enumerate(far)], first_timestamp=3)
    records = assert_same(data) or []
    wrapped = [(3 + delta + I64 + 1) % (1 << 64) - I64 - 1 for delta in far]
    assert [record.timestamp_ms for record in records] == wrapped
    assert_same(batch_bytes([*(Written(b"k", b"v", delta) for delta in far), Written(b"k", b"v")], base_offset=3))


@needs_parser
@given(
    st.lists(st.lists(st.tuples(st.none() | st.sampled_from([b"a", b"b", b"c", b"d"]) | st.binary(max_size=2),
                                st.none() | st.just(b"v")), max_size=3), max_size=4),
    st.sets(st.sampled_from([b"a", b"x"])),
)  # fmt: skip
def test_adding_new_records(batches: list[list[tuple[bytes | None, bytes | None]]], known: set[bytes]) -> None:
    """All records are added, or none: if one has no key, or a key that is there already or comes twice."""
    assert PARSER is not None
    before: dict[bytes | None, tuple[bytes | None, ...]] = {key: (key, b"old") for key in sorted(known)}
    changes = dict(before)
    records = [record for batch in batches for record in batch]
    keys = [key for key, _ in records]
    counts = PARSER.add_new(changes, batches)
    if None in keys or len(set(keys)) < len(keys) or known & set(keys):
        assert counts is None
        assert changes == before
    else:
        assert counts == (len(records), [value for _, value in records].count(None))
        assert list(changes.items()) == [*before.items(), *zip(keys, records, strict=True)]


@needs_parser
def test_adding_something_else_is_an_error() -> None:
    """Records have to be tuples in lists."""
    assert PARSER is not None
    wrong: list[Any] = [[()], [[(b"key",)]], [[b"key"]], [[([], b"v")]]]
    for batches in wrong:
        with pytest.raises(TypeError):
            PARSER.add_new({}, batches)


@needs_parser
def test_adding_records() -> None:
    """Records are put into the dict by their keys, the last one of a key counts, and tombstones are counted."""
    assert PARSER is not None
    changes: dict[bytes | None, tuple[bytes | None, ...]] = {}
    records = ((b"a", b"1"), (b"b", None), (b"a", None), (None, b"2"))
    assert PARSER.add(changes, records) == 2
    assert changes == {b"a": (b"a", None), b"b": (b"b", None), None: (None, b"2")}
    assert list(changes) == [b"a", b"b", None]


@needs_parser
def test_wrong_arguments_are_refused() -> None:
    """A type of another layout, or data shorter than the head of a batch, is an error and no crash."""
    assert PARSER is not None
    whole = batch_bytes([Written(b"k", b"v")])

    class WithDict(Record):
        pass

    class WithSlot(Record):
        __slots__ = ("more",)

    for wrong in (int, tuple, PlainRecordFields, WithDict, WithSlot):
        with pytest.raises(TypeError):
            PARSER.parse(whole, None, 0, wrong, SOURCE)
    for end in range(HEAD_BYTES):
        with pytest.raises(ValueError, match="shorter than the head"):
            PARSER.parse(whole[:end], None, 0, Record, SOURCE)
    with pytest.raises(TypeError):
        PARSER.untrack([])  # type: ignore[arg-type]


PROGRAM = """
import sys
if {missing}:
    sys.modules["kafka_replica.common._records"] = sys.modules["kafka_replica.common._heap"] = None
from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.common.compiled import PARSER, parser_name
from kafka_replica.records import Partition
found = parse_records(bytes.fromhex({data!r}), Partition("t", 0))
print(parser_name(), len(found), type(found[0]).__name__, found[0][0].decode())
"""


def run(variable: str | None, *, missing: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a program that parses a batch, with the variable set or with the module missing."""
    program = PROGRAM.format(missing=missing, data=batch_bytes([Written(b"key", b"v")]).hex())
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment |= {VARIABLE: variable} if variable is not None else {}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(("variable", "missing"), [("0", False), (None, True), ("0", True)])
def test_without_the_module(variable: str | None, missing: bool) -> None:
    """Batches are parsed in Python where the module was not built, and where the environment says so."""
    done = run(variable, missing=missing)
    assert done.stdout == "general 1 tuple key\n", done.stderr


@pytest.mark.parametrize("name", ["general", pytest.param("compiled", marks=needs_parser)])
def test_the_command_names_the_parser(name: str) -> None:
    """``kafka-replica --version`` reports whether the compiled or the general parser is used."""
    environment = {**os.environ, VARIABLE: "0" if name == "general" else "1"}
    command = [str(Path(sys.executable).with_name("kafka-replica")), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("kafka-replica, version ")
    assert done.stdout.endswith(f", with the {name} parser of record batches\n")


def test_a_required_module_that_is_missing() -> None:
    """A required module that is absent is an error that says what to do."""
    done = run("1", missing=True)
    assert done.returncode == 1
    assert "KAFKA_REPLICA_COMPILED=1 requires the compiled parser" in done.stderr
    assert "or unset the variable" in done.stderr


@needs_parser
def test_a_module_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that was built from another version of its source is not used."""
    monkeypatch.setattr(compiled, "_INTERFACE", -1)
    for name in ("_batches", "_records", "_heap"):
        assert compiled._load(name, None) is None
        with pytest.raises(ConfigurationError, match="was built from another version"):
            compiled._load(name, "1")


def test_this_environment_has_it() -> None:
    """An environment with a compiler and Python's headers has the module: nothing above is skipped."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if compiler is None or not headers.exists():
        pytest.skip("NOT TESTED: there is no C compiler with Python's headers")
    if os.environ.get(VARIABLE) == "0":
        pytest.skip(f"NOT TESTED: {VARIABLE}=0")
    assert PARSER is not None, "run make env again"
    assert SCANNER is not None, "run make env again"
    assert HEAP is not None, "run make env again"
