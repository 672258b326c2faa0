"""A driver of a publisher, in the role of the follower, and a reader that checks each change. No broker."""

from __future__ import annotations

from kafka_replica import Change, MemoryStore, Position, Snapshot
from kafka_replica.listeners import Mailbox
from kafka_replica.publication.health import Health
from kafka_replica.publication.publisher import Publisher
from kafka_replica.stores.delta import Delta
from support.core.store_contract import P, Writes, apply_to, records, values

State = dict[bytes, bytes | None]


class Driver:
    """A store, a publisher, and the content of each version (``models[version]``)."""

    def __init__(self, recent_changes: int = 1000) -> None:
        self.store = MemoryStore()
        self.publisher = Publisher(Health(stalled_after_s=10, blocked_after_s=1), recent_changes)
        self.models: list[State] = [{}]
        self.transactions: list[int | None] = [None]

    @property
    def version(self) -> int:
        """The present model."""
        return len(self.models) - 1

    def publish(self, written: Writes, transactions: int | None = None) -> None:
        """Publish one more version."""
        self.models.append(apply_to(self.models[-1], written))
        self.transactions.append(transactions)
        applied = self.store.apply(Delta(records(written, self.version * 10)), Position({P: self.version * 10}))
        self.publisher.published(self.store.snapshot(), applied, transactions)

    def count_to(self, versions: int) -> None:
        """Publish that many versions; each writes its number under one key and under a new one."""
        while self.version < versions:
            number = str(self.version + 1).encode()
            self.publish([(b"number", number), (b"only-" + number, number)], 1)

    def holds(self, snapshot: Snapshot) -> None:
        """Return True if a snapshot has the content of its version, by every way of reading."""
        model = self.models[snapshot.version]
        assert values(snapshot) == model
        assert len(snapshot) == len(model)
        assert snapshot.position == Position({P: snapshot.version * 10})
        for key in (b"a", b"e", b"never written"):
            assert (key in snapshot) == (key in model)
            record = snapshot.get(key)
            assert (None if record is None else record.value) == model.get(key)


class Reader:
    """Apply the changes of one mailbox, in order, to a state that begins with version ``since``."""

    def __init__(self, driver: Driver, mailbox: Mailbox, since: int | None = None) -> None:
        self.driver = driver
        self.mailbox = mailbox
        self.version = since
        self.state = dict(driver.models[since]) if since is not None and since <= driver.version else {}
        self.heard: list[Change] = []

    def take(self, *, look: bool = True) -> Change:
        """Take a change and check it; with ``look`` it reads the versions immediately, else ``look_back`` does."""
        change = self.mailbox.take(0)
        assert change is not None
        self._check(change)
        if change.initial:
            self.state = {}
        self.state |= {key: self.driver.models[change.version][key] for key in change.changed}
        for key in change.deleted:
            del self.state[key]
        assert self.state == self.driver.models[change.version]
        self.version = change.version
        self.heard.append(change)
        if look:
            self.look_back()
        return change

    def take_all(self) -> None:
        """Take all pending changes."""
        while self.mailbox.ready and not self.mailbox.closed:
            self.take()

    def look_back(self) -> None:
        """Check that all changes received so far still show their content."""
        for change in self.heard:
            self.driver.holds(change.snapshot)
            if change.previous is not None:
                self.driver.holds(change.previous)

    def _check(self, change: Change) -> None:
        assert not set(change.changed) & set(change.deleted)
        if change.initial:
            assert not self.heard, "the whole state comes first or not at all"
            assert change.transactions is None
            return
        assert change.previous is not None
        assert change.previous.version == self.version
        assert change.conflated == change.version - change.previous.version
        assert set(change.deleted) <= set(self.state)
        counts = self.driver.transactions[change.previous.version + 1 : change.version + 1]
        known = [count for count in counts if count is not None]
        assert change.transactions == (sum(known) if len(known) == len(counts) else None)
