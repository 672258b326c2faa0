"""A store, a checkpoint file and a history as each format on disk has them, for programs that come later to read.

``PYTHONPATH=tests python -m support.core.format_samples`` writes ``data/format-N.zip`` for the present formats. The
archive of a format is written once, by the first version of the library that has it, and then kept: a reader that
still reads it is compared with what it held. RocksDB notes the host's name: run it with ``unshare --uts``.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final

from kafka_replica import MemoryStore, Record, RocksStore, Snapshot
from kafka_replica.history import VersionHistory
from kafka_replica.stores import Store
from kafka_replica.stores.rocks.folder import FORMAT
from kafka_replica.testing import FakeTopic

DATA: Final = Path(__file__).parent / "data"
_TEMPORARY: Final = ("LOG", "LOCK", "OPTIONS-")  # files that RocksDB writes on opening


def as_json(snapshot: Snapshot) -> dict[str, Any]:
    """Return all that a snapshot shows as JSON values."""
    return {
        "version": snapshot.version,
        "position": snapshot.position.as_json(),
        "open": [each.as_json() for each in snapshot.position.open],
        "records": {key.decode(): _record(record) for key, record in sorted(snapshot.items())},
    }


def _record(record: Record) -> list[Any]:
    headers = [[name, None if value is None else value.hex()] for name, value in record.headers]
    value = None if record.value is None else record.value.hex()
    return [value, record.offset, record.timestamp_ms, headers, str(record.source)]


def make(folder: Path) -> dict[str, Any]:
    """Fill a folder with one of each; return what they hold."""
    topic = FakeTopic("kept", partitions=2)
    stores: dict[str, Store] = {"rocks": RocksStore(folder / "rocks"), "checkpoint": MemoryStore(folder / "checkpoint")}
    expected: dict[str, Any] = {}
    with VersionHistory(folder / "history") as history:
        with topic.replica(stores["rocks"]) as rocks, topic.replica(stores["checkpoint"]) as memory:
            history.follow(rocks)
            for replica in (rocks, memory):
                replica.wait_ready(timeout_s=60)
            for step in range(4):
                end = _write(topic, step)
                for replica in (rocks, memory):
                    replica.wait_for(end, timeout_s=60)
            transaction = topic.begin()
            transaction.put("open", b"not committed")
            end = topic.put("last", b"behind an open transaction")
            for name, replica in (("rocks", rocks), ("checkpoint", memory)):
                expected[name] = as_json(replica.wait_for(end, timeout_s=60))
        expected["history"] = [as_json(history.at(version=kept.number)) for kept in reversed(history.versions())]
        transaction.abort()
    return expected


def _write(topic: FakeTopic, step: int) -> Any:
    with topic.transaction() as transaction:
        for number in range(20):
            transaction.put(f"k{step}-{number}", b"%d" % number * (number + 1), headers=(("h", b"x"), ("null", None)))
        transaction.put("again", b"%d" % step)
        if step == 3:
            transaction.delete("k0-0")
    return topic.end()


def unpack(number: int, folder: Path) -> dict[str, Any]:
    """Unpack the archive of a format into a folder; return what it holds."""
    with zipfile.ZipFile(DATA / f"format-{number}.zip") as archive:
        archive.extractall(folder)
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return expected


def main() -> None:
    """Write the archive of the present formats."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = make(folder)
        (folder / "expected.json").write_text(json.dumps(expected))
        with zipfile.ZipFile(DATA / f"format-{FORMAT}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not path.name.startswith(_TEMPORARY) and path.suffix != ".lock":
                    archive.write(path, path.relative_to(folder))


if __name__ == "__main__":
    main()
