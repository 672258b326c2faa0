"""Who is told of a new version, and what each may rely on.

* A listener first hears the whole present state (``Change.initial``), or, if there is none yet, the
  first version; from then on every version, in order. It never hears of one version twice, and never
  from two threads at a time.
* A slow listener holds neither the replica nor another listener. It has a mailbox of its own, of a
  bounded size; when that is full, the newest change is merged into the one that waits there, which then
  says so (``Change.conflated``). No change is lost by that: the sum is the same.
* What waits for a slow listener is kept as differences, not as versions: at most one old record a key,
  and those of the last changes. Holding a hundred snapshots instead would cost a hundred a key.
* An exception of a listener is logged with the version it failed at, counted and kept
  (``Subscription.last_error``); it hears the next version all the same, and the others are not touched.

Not promised: that a listener hears of a version before or after another listener, or before
``Replica.snapshot`` shows it.
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
