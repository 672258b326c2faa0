"""A folder of structure files as a source: changes become transactions, failures change nothing."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from kafka_replica.producer import StructureProducer
from kafka_replica.producer.errors import OutboxError, SourceError
from kafka_replica.producer.outbox.tables import change, detail
from kafka_replica.producer.sources import FolderSettings, FolderSource, record_source
from support.producer.producer_tools import settings_of
from support.producer.structure_samples import codelist, urn
from support.waiting import wait_until


@pytest.fixture
def producer(tmp_path: Path) -> Iterator[StructureProducer]:
    """A producer that is not started and only records."""
    made = StructureProducer(settings_of("nowhere:1", "t", f"sqlite:///{tmp_path / 'outbox.db'}"))
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "structures"
    made.mkdir()
    return made


def source_of(folder: Path, **more: object) -> FolderSource:
    """Return a source with short intervals."""
    return FolderSource(FolderSettings((str(folder),), quiet_s=0.05, interval_s=60.0, **more))  # type: ignore[arg-type]


def recorded(producer: StructureProducer) -> list[tuple[int, str, str]]:
    """Return (transaction, kind, key) of all recorded changes."""
    wanted = select(change.c.tx_id, detail.c.kind, change.c.record_key).join(detail, change.c.tx_id == detail.c.tx_id)
    with producer.engine.connect() as connection:
        rows = connection.execute(wanted.order_by(change.c.tx_id, change.c.number)).all()
    return [(tx_id, kind, bytes(key).decode()) for tx_id, kind, key in rows]


@pytest.mark.thorough
def test_changes_of_files_become_transactions(producer: StructureProducer, folder: Path) -> None:
    """Additions and changes share a transaction, deletions have their own; without changes there is none."""
    (folder / "sub").mkdir()
    (folder / "a.xml").write_text(codelist("CL_A CL_B"))
    (folder / "sub" / "c.xml").write_text(codelist("CL_C"))
    (folder / ".hidden.xml").write_text("no structure message")
    (folder / "README.md").write_text("nor this")
    source = source_of(folder)
    assert record_source(source, producer) == [1]
    assert record_source(source, producer) == []
    assert source.read() is None, "no file has changed"
    (folder / "a.xml").write_text(codelist("CL_A CL_D", "Y"))
    (folder / "sub" / "c.xml").unlink()
    assert record_source(source, producer) == [2, 3]
    assert recorded(producer)[3:] == [
        (2, "changes", urn("CL_A")), (2, "changes", urn("CL_D")),
        (3, "deletions", urn("CL_B")), (3, "deletions", urn("CL_C")),
    ]  # fmt: skip


@pytest.mark.thorough
def test_another_header_is_no_change(producer: StructureProducer, folder: Path) -> None:
    """A changed header is not a change, for this process and for the next one, which knows only the database."""
    (folder / "a.xml").write_text(codelist("CL_A"))
    assert record_source(source_of(folder), producer) == [1]
    (folder / "a.xml").write_text(codelist("CL_A", prepared="2027-01-01T00:00:00Z"))
    assert record_source(source_of(folder), producer) == []
    (folder / "a.xml").write_text(codelist("CL_A", "Z", prepared="2027-01-01T00:00:00Z"))
    assert record_source(source_of(folder), producer) == [2]


@pytest.mark.thorough
@pytest.mark.parametrize("trouble", ["half a file", "an empty file", "no file", "no folder", "a link to nowhere"])
def test_a_failure_deletes_nothing(trouble: str, producer: StructureProducer, folder: Path) -> None:
    """A failure changes and deletes nothing, even for readable files; after the repair all changes are recorded."""
    whole = codelist("CL_B")
    (folder / "a.xml").write_text(codelist("CL_A"))
    (folder / "b.xml").write_text(whole)
    source = source_of(folder)
    assert record_source(source, producer) == [1]
    (folder / "c.xml").write_text(codelist("CL_C"))
    if trouble == "half a file":
        (folder / "b.xml").write_text(whole[: len(whole) // 2])
    elif trouble == "an empty file":
        (folder / "b.xml").write_text("")
    elif trouble == "no file":
        (folder / "a.xml").rename(folder / "a")
        (folder / "b.xml").rename(folder / "b")
        (folder / "c.xml").unlink()
    elif trouble == "no folder":
        folder.rename(folder.with_name("elsewhere"))
    else:
        (folder / "b.xml").unlink()
        (folder / "b.xml").symlink_to(folder / "nowhere")
    for _ in range(2):
        with pytest.raises(SourceError, match=r"nothing is (recorded|deleted)"):
            record_source(source, producer)
    assert [key for _, _, key in recorded(producer)] == [urn("CL_A"), urn("CL_B")]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "a.xml").write_text(codelist("CL_A", "Y"))
    (folder / "b.xml").write_text(whole)
    assert record_source(source, producer) == [2]


@pytest.mark.thorough
def test_an_empty_folder_may_be_meant(producer: StructureProducer, folder: Path) -> None:
    """An empty folder deletes everything if the settings allow that."""
    (folder / "a.xml").write_text(codelist("CL_A"))
    source = source_of(folder, allow_empty=True)
    record_source(source, producer)
    (folder / "a.xml").unlink()
    assert record_source(source, producer) == [2]
    assert recorded(producer)[-1] == (2, "deletions", urn("CL_A"))


@pytest.mark.thorough
def test_changes_that_were_not_recorded_are_read_again(producer: StructureProducer, folder: Path) -> None:
    """Changes that the database refused once are read again: nothing is lost, though no file changes."""
    (folder / "a.xml").write_text(codelist("CL_A"))
    source, engine = source_of(folder), producer.engine
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE kafka_producer_tx_change RENAME TO away")
    with pytest.raises(OutboxError):
        record_source(source, producer)
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE away RENAME TO kafka_producer_tx_change")
    assert record_source(source, producer) == [1]


@pytest.mark.thorough
def test_files_that_are_being_written_are_waited_for(producer: StructureProducer, folder: Path) -> None:
    """A growing file is read once it stops growing; its content comes as one transaction."""
    half = codelist("CL_A CL_B")
    (folder / "a.xml").write_text(half[:300])

    def finish() -> None:
        time.sleep(0.1)
        (folder / "a.xml").write_text(half)

    writer = threading.Thread(target=finish)
    source = FolderSource(FolderSettings((str(folder),), quiet_s=2.0))
    writer.start()
    assert record_source(source, producer) == [1]
    writer.join()
    assert [key for _, _, key in recorded(producer)] == [urn("CL_A"), urn("CL_B")]


def test_a_change_ends_the_wait(folder: Path) -> None:
    """A change or closing ends the wait long before the interval is over."""
    (folder / "a.xml").write_text(codelist("CL_A"))
    source, closing, ended = source_of(folder), threading.Event(), threading.Event()

    def wait() -> None:
        source.wait(closing)
        ended.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    number = iter(range(1000))

    def changed() -> bool:
        (folder / f"{next(number)}.xml").write_text(codelist("CL_B"))
        time.sleep(0.1)
        return ended.is_set()

    wait_until(changed, "the change is noticed", timeout_s=50)
    waiting.join()
    ended.clear()
    waiting = threading.Thread(target=wait)
    waiting.start()
    closing.set()
    wait_until(ended.is_set, "it ends", timeout_s=50)
    waiting.join()
