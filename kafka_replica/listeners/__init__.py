"""The delivery of new versions to listeners; a slow listener delays no other reader.

The following is guaranteed:

* A listener first receives the complete current state (``Change.initial``), or, if there is no version yet, the first
  version; then every version, in order. It never receives a version twice, and is never called from two threads at the
  same time.
* A slow listener delays neither the replica nor other listeners. It has its own mailbox of bounded size; when the
  mailbox is full, the newest change is merged into the last waiting change, which counts the versions merged
  (``Change.conflated``). Merging loses no change: the net effect is the same.
* Changes that wait for a slow listener are kept as differences, not as versions: at most one old record per key, plus
  the old records of the last changes. Holding a hundred snapshots instead would cost a hundred records per key.
* An exception of a listener is logged with the version at which it was raised, counted and kept
  (``Subscription.last_error``). The listener still receives the next version, and other listeners are not affected.

The order in which different listeners receive a version is not guaranteed, nor whether they receive it before
``Replica.snapshot`` shows it.

This package may import ``stores`` and the packages below it. Read ``change`` first, then ``subscription``
and ``mailbox``.
"""

from __future__ import annotations

from kafka_replica.listeners.change import Change
from kafka_replica.listeners.changes import Changes
from kafka_replica.listeners.mailbox import DEFAULT_PENDING_CHANGES, Mailbox
from kafka_replica.listeners.recent import DEFAULT_RECENT_CHANGES, RecentChanges
from kafka_replica.listeners.subscription import Listener, Subscription

__all__ = [
    "DEFAULT_PENDING_CHANGES",
    "DEFAULT_RECENT_CHANGES",
    "Change",
    "Changes",
    "Listener",
    "Mailbox",
    "RecentChanges",
    "Subscription",
]
