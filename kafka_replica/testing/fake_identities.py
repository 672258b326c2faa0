"""The producers of a ``FakeKafka``: those with a transactional id, and a pool for transactions without one."""

from __future__ import annotations

from operator import attrgetter

from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_transaction import FakeIdentity, FakeTransaction

_FIRST_PRODUCER_ID = 1000


class FakeIdentities:
    """The producers that write to a cluster, guarded by the cluster's lock."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._pool: list[FakeIdentity] = []
        self._named: dict[str, FakeIdentity] = {}
        self._count = 0

    def unused(self) -> FakeIdentity:
        """Return a producer without an open transaction from the pool, or a new producer."""
        with self.cluster.changed:
            identity = next((known for known in self._pool if known.open is None), None)
            if identity is None:
                identity = self._new_identity()
                self._pool.append(identity)
            return identity

    def initialise(self, transactional_id: str) -> FakeIdentity:
        """Initialise the producer of a transactional id; abort the transaction that it left open."""
        with self.cluster.changed:
            identity = self._named.get(transactional_id) or self._new_identity()
            self._named[transactional_id] = identity
            if identity.open is not None:
                identity.open.fence()
            identity.epoch += 1
            identity.term += 1
            return identity

    def open_transactions(self) -> list[FakeTransaction]:
        """Return the open transactions, in the order of their producers' ids."""
        with self.cluster.changed:
            identities = sorted([*self._pool, *self._named.values()], key=attrgetter("producer_id"))
            return [identity.open for identity in identities if identity.open is not None]

    def _new_identity(self) -> FakeIdentity:
        self._count += 1
        return FakeIdentity(_FIRST_PRODUCER_ID + self._count)
