"""The versions that a history keeps at one moment, to be listed, or found by number or instant.

Sequences have no gaps and instants never decrease, so that versions are found by bisection. The versions of a
*segment* have increasing numbers of one incarnation. A new segment begins when numbering restarts, and when a replica
continues, after a power cut, at a version older than the newest recorded one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator

from kafka_replica.errors import StoreDamagedError
from kafka_replica.history.errors import FutureVersionError, VersionNotKeptError
from kafka_replica.history.kept_version import DAMAGE_ADVICE, KeptRange, KeptVersion, StoredVersion, time_text
from kafka_replica.history.layout import version_key


class Catalogue:
    """The kept versions, from one consistent state of the database.

    Args:
        get: returns the value of a key in that state.
        oldest: the sequence of the oldest version; 0 if there is none.
        newest: the sequence of the newest version; 0 if there is none.
    """

    def __init__(self, get: Callable[[bytes], bytes | None], oldest: int, newest: int) -> None:
        self._get = get
        self.oldest = oldest
        self.newest = newest

    def stored(self, sequence: int) -> StoredVersion:
        """Return a version that is kept.

        Raises:
            StoreDamagedError: the version is missing.
        """
        data = self._get(version_key(sequence))
        if data is None:
            raise StoreDamagedError(f"reading the version with the sequence {sequence}: it is missing; {DAMAGE_ADVICE}")
        return StoredVersion.decode(data)

    def version(self, sequence: int) -> KeptVersion:
        """Return the facts of a version that is kept."""
        return self.stored(sequence).version

    def range(self) -> KeptRange | None:
        """Return the oldest and the newest version; None if there are none."""
        return KeptRange(self.version(self.oldest), self.version(self.newest)) if self.newest else None

    def present(self) -> KeptVersion:
        """Return the newest version.

        Raises:
            VersionNotKeptError: there is none.
        """
        if not self.newest:
            raise VersionNotKeptError(f"there is no version; {self._kept()}")
        return self.version(self.newest)

    def newest_first(self, start: int | None, limit: int) -> list[KeptVersion]:
        """Return versions in descending order, beginning with a sequence."""
        last = self.newest if start is None else min(start, self.newest)
        first = max(self.oldest, last - limit + 1, 1)
        return [self.version(sequence) for sequence in range(last, first - 1, -1)]

    def of(self, version: KeptVersion) -> KeptVersion:
        """Return a version if it is still kept.

        Raises:
            VersionNotKeptError: it is no longer kept, or belongs to another history.
        """
        if self.oldest <= version.sequence <= self.newest and (found := self.version(version.sequence)) == version:
            return found
        raise VersionNotKeptError(f"{version.summary()} is not kept; {self._kept()}")

    def by_number(self, number: int, incarnation: str | None) -> KeptVersion:
        """Return the version with a number; if it was recorded twice, the later one.

        Args:
            number: the number.
            incarnation: the incarnation of the number; None means the newest.

        Raises:
            FutureVersionError: the version does not exist yet.
            VersionNotKeptError: the version is too old, was not recorded, or its incarnation is unknown.
        """
        newest = self.present()
        for first, last in self._segments():
            found = self.version(last)
            if found.incarnation != (incarnation or newest.incarnation):
                continue
            if number > found.number:
                if found == newest:
                    raise FutureVersionError(
                        f"version {number} does not exist yet; the newest recorded one is {newest.summary()}"
                    )
                continue
            at = bisect_right(range(first, last + 1), number, key=lambda sequence: self.version(sequence).number)
            if at:
                found = self.version(first + at - 1)
                if found.number == number:
                    return found
                raise self._not_recorded(f"version {number}", found, self.version(first + at))
        known = "" if incarnation is None else f" of the incarnation {incarnation}"
        raise VersionNotKeptError(f"version {number}{known} is not kept; {self._kept()}")

    def by_instant(self, ms: int) -> KeptVersion:
        """Return the version that readers saw last at an instant, which is not in the future.

        Raises:
            VersionNotKeptError: the instant is before the oldest version, or among versions that were not recorded.
        """
        kept = range(self.oldest, self.newest + 1) if self.newest else range(0)
        at = bisect_right(kept, ms, key=lambda sequence: self.version(sequence).published_ms)
        if not at:
            raise VersionNotKeptError(f"the version of {time_text(ms)} is not kept; {self._kept()}")
        found = self.version(kept[at - 1])
        if found.published_ms < ms and at < len(kept):
            following = self.version(kept[at])
            if following.missing or following.is_after_gap or _begins_late(found, following):
                raise self._not_recorded(f"the version of {time_text(ms)}", found, following)
        return found

    def _segments(self) -> Iterator[tuple[int, int]]:
        """Yield the sequences of the first and last kept version of each segment, the newest first."""
        last = self.newest
        while last >= self.oldest and last:
            first = max(self.stored(last).first, self.oldest)
            yield first, last
            last = first - 1

    def _kept(self) -> str:
        kept = self.range()
        if kept is None:
            return "the history is empty: let it follow a replica"
        return f"kept: {kept.oldest.summary()} to {kept.newest.summary()}"

    def _not_recorded(self, what: str, before: KeptVersion, after: KeptVersion) -> VersionNotKeptError:
        return VersionNotKeptError(
            f"{what} was not recorded: the history has {before.summary()}, and next {after.summary()}, with all "
            "changes between them"
        )


def _begins_late(before: KeptVersion, after: KeptVersion) -> bool:
    """Return whether earlier versions of a new incarnation, which readers saw, were not recorded.

    The first version of a replica in memory has a higher number than 1 if it continues a checkpoint.
    """
    return after.incarnation != before.incarnation and after.number > 1 and not after.is_first
