"""An observer's record of a replica, version by version, as a file of JSON lines.

Each version is read completely from its snapshot, in two ways that must agree; the line contains the difference to the
previous content (``set``, ``gone``) and the changes that the replica itself reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chaos.history import Journal
from chaos.plan import named
from kafka_replica import Change, Record, Snapshot


class Stream:
    """A recorder of versions.

    Args:
        path: the file.
        keys: every key that may be there; each is looked up, too.
        resumes: True if the first version may be from before a restart.
    """

    def __init__(self, path: Path, keys: Sequence[str], *, resumes: bool = False) -> None:
        self._journal = Journal(path)
        self._journal.write("started", resumes=resumes)
        self._keys = [key.encode() for key in keys]
        self._known: dict[bytes, Record] = {}
        self.version = 0

    def hear(self, change: Change) -> None:
        """Record the version and the reported change, as a listener."""
        self.look(
            change.snapshot,
            stands_for=change.conflated,
            initial=change.initial,
            changed=[key.decode() for key in change.changed],
            deleted=[key.decode() for key in change.deleted],
        )

    def look(self, snapshot: Snapshot, **more: object) -> dict[bytes, Record]:
        """Record a version; return its content."""
        found = dict(snapshot.items())
        by_key = {key: record for key in self._keys if (record := snapshot.get(key)) is not None}
        known, self._known = self._known, found
        self._journal.write(
            "look",
            version=snapshot.version,
            position=snapshot.position.as_json(),
            # The transactions that were open there: without them, two versions may differ at the same offsets.
            open=[open_.as_json() for open_ in getattr(snapshot.position, "open", ())],
            set={
                key.decode(): [named(record.value or b""), record.offset, str(record.source)]
                for key, record in found.items()
                if record != known.get(key)
            },
            gone=[key.decode() for key in known if key not in found],
            agree=found == by_key and len(snapshot) == len(found),
            reads=len(found) + len(self._keys),
            **more,
        )
        self.version = snapshot.version
        return found

    def again(self, snapshot: Snapshot, found: dict[bytes, Record]) -> None:
        """Read an old snapshot once more: it must not have changed."""
        now = dict(snapshot.items())
        self._journal.write("again", version=snapshot.version, same=now == found, reads=len(now))

    def close(self) -> None:
        """Close the file."""
        self._journal.close()
