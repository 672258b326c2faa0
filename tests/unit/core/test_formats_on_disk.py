"""Files of every format that the library has ever written are read, and files of other formats are refused.

The archives in ``support/core/data`` were written when a format was new; ``format_samples`` explains how.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from kafka_replica import MemoryStore, RocksStore
from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.history import VersionHistory
from kafka_replica.stores import checkpoint
from kafka_replica.stores.rocks import folder as rocks
from support.core.checkpoint_tools import outcome
from support.core.format_samples import DATA, as_json, unpack
from support.core.rocks_tools import delta, new_folder, values

FORMATS = sorted(int(path.stem.removeprefix("format-")) for path in DATA.glob("format-*.zip"))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder."""
    with new_folder() as path:
        yield path


def test_the_present_formats_have_a_sample() -> None:
    """A new format cannot be added without an archive of it, which later versions are tested with."""
    assert max(FORMATS) == rocks.FORMAT == checkpoint.FORMAT


@pytest.mark.thorough
@pytest.mark.parametrize("number", FORMATS)
def test_a_store_of_each_format_is_read(number: int, folder: Path) -> None:
    """A RocksDB store shows what it held, with offsets, headers and open transactions, and takes the next version."""
    expected = unpack(number, folder)["rocks"]
    assert as_json(RocksStore(folder / "rocks", read_only=True).snapshot()) == expected
    store = RocksStore(folder / "rocks")
    assert as_json(store.snapshot()) == expected
    store.apply(delta({b"again": b"new", b"last": None}, 1_000), store.snapshot().position)
    assert store.snapshot()[b"again"].value == b"new"
    assert len(store.snapshot()) == len(expected["records"]) - 1
    store.close()


@pytest.mark.parametrize("number", FORMATS)
def test_a_checkpoint_file_of_each_format_is_read(number: int, folder: Path) -> None:
    """A memory store starts from the version that the file holds."""
    expected = unpack(number, folder)["checkpoint"]
    store = MemoryStore(folder / "checkpoint", checkpoint_every_s=None)
    assert as_json(store.snapshot()) == expected
    store.close()


@pytest.mark.parametrize("number", FORMATS)
def test_a_history_of_each_format_is_read(number: int, folder: Path) -> None:
    """A history shows each version that it holds."""
    expected = unpack(number, folder)["history"]
    with VersionHistory(folder / "history") as history:
        assert [as_json(history.at(version=kept.number)) for kept in reversed(history.versions())] == expected


@pytest.mark.parametrize("number", [2, 99])
def test_a_newer_format_is_refused_and_kept(number: int, folder: Path) -> None:
    """A newer format is not taken for damage: the error names both formats, and the files stay as they were."""
    unpack(max(FORMATS), folder)
    for file in (folder / "rocks" / "CURRENT", folder / "history" / "HISTORY"):
        file.write_text(json.dumps({**json.loads(file.read_text()), "format": number}))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for open_it in (lambda: RocksStore(folder / "rocks"), lambda: VersionHistory(folder / "history")):
        with pytest.raises(StoreError, match=f"has format {number}, this version of kafka_replica writes 1: use"):
            open_it()
    for path, content in before.items():
        assert path.read_bytes() == content, path


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "1", None])
def test_a_number_that_no_version_wrote_is_damage(number: object, folder: Path) -> None:
    """A store with such a number is built again, and never read as another format; a history is refused."""
    unpack(max(FORMATS), folder)
    for file in (folder / "rocks" / "CURRENT", folder / "history" / "HISTORY"):
        file.write_text(json.dumps({**json.loads(file.read_text()), "format": number}))
    with pytest.raises(StoreDamagedError):
        RocksStore(folder / "rocks", read_only=True)
    store = RocksStore(folder / "rocks")
    assert (store.resume_point, values(store.snapshot())) == (None, {})
    store.close()
    with pytest.raises(StoreDamagedError, match="HISTORY is damaged"):
        VersionHistory(folder / "history")


def test_a_checkpoint_file_with_a_number_that_no_version_wrote_is_damaged(folder: Path) -> None:
    """The number is part of the header's checksum, so another number is damage or another format, never this one."""
    unpack(max(FORMATS), folder)
    file = folder / "checkpoint"
    whole = file.read_bytes()
    for number in (0, 2):
        _, *others = checkpoint.HEADER.unpack_from(whole)
        header = checkpoint.HEADER.pack(checkpoint.MAGIC, number, *others[1:])
        checksum = checkpoint.CHECKSUM.pack(crc32(header))
        file.write_bytes(header + checksum + whole[len(header) + len(checksum) :])
        error = StoreDamagedError if number == 0 else StoreError
        with pytest.raises(error, match="its format" if number == 0 else "has format 2"):
            checkpoint.load(file)
        shutil.copy(file, folder / "again")
        assert outcome(folder / "again")[1] is None
