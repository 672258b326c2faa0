"""The differences between two generations."""

from __future__ import annotations

from kafka_replica.stores.delta import AppliedChanges
from kafka_replica.stores.packed_keys import PackedKeys
from kafka_replica.stores.rocks.codec import PLACE_BYTES
from kafka_replica.stores.rocks.scan import Entries


def difference(old: Entries, new: Entries) -> AppliedChanges:
    """Return the changes between two generations, for listeners: records that only moved in the log are not changes.

    Args:
        old: keys and their stored data, in the order of the keys.
        new: the same for the other generation.
    """
    changed, deleted = PackedKeys(), PackedKeys()
    before, after = next(old, None), next(new, None)
    while before is not None or after is not None:
        if after is None or (before is not None and before[0] < after[0]):
            deleted.append(before[0])  # type: ignore[index]
            before = next(old, None)
        elif before is None or after[0] < before[0]:
            changed.append(after[0])
            after = next(new, None)
        else:
            if _content(before[1]) != _content(after[1]):
                changed.append(after[0])
            before, after = next(old, None), next(new, None)
    return AppliedChanges(changed, deleted)


def _content(data: bytes) -> bytes:
    return data[PLACE_BYTES:]
