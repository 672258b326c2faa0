"""A cache of expanded codelists, valid as long as the lists they were built from are unchanged."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeAlias

from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.model import Codelist
from kafka_replica.sdmx.urns.urn import Urn

MAX_KEPT_CODES: Final = 200_000
"""The maximum number of codes in all cached lists together; the least recently used list is evicted first."""

LookUp: TypeAlias = Callable[[Urn], Codelist]
Expand: TypeAlias = Callable[[Codelist, LookUp], Codelist]


class ExpansionCache:
    """Expanded lists, each with the lists it was built from. Thread-safe."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._lock = threading.RLock()
        self._kept: OrderedDict[Urn, tuple[Codelist, Codelist, dict[Urn, Codelist]]] = OrderedDict()
        self._codes = 0

    def get(self, codelist: Codelist, look_up: LookUp, expand: Expand) -> Codelist:
        """Return the expanded list; expand again if the list, or a list it extends, is no longer the same object."""
        with self._lock:
            known = self._kept.get(codelist.urn)
        if known is not None and known[0] is codelist and _are_same(known[2], look_up):
            self._note_use(codelist.urn)
            return known[1]
        used: dict[Urn, Codelist] = {}

        def noting(urn: Urn) -> Codelist:
            used[urn] = look_up(urn)
            return used[urn]

        made = expand(codelist, noting)
        self._keep(codelist, made, used)
        return made

    def _note_use(self, urn: Urn) -> None:
        with self._lock:
            if urn in self._kept:  # another thread may have evicted it
                self._kept.move_to_end(urn)

    def _keep(self, codelist: Codelist, made: Codelist, used: dict[Urn, Codelist]) -> None:
        with self._lock:
            known = self._kept.pop(codelist.urn, None)
            self._codes += len(made.codes) - (len(known[1].codes) if known is not None else 0)
            self._kept[codelist.urn] = codelist, made, used
            while self._codes > MAX_KEPT_CODES and len(self._kept) > 1:
                _, (_, gone, _) = self._kept.popitem(last=False)
                self._codes -= len(gone.codes)


def _are_same(used: dict[Urn, Codelist], look_up: LookUp) -> bool:
    try:
        return all(look_up(urn) is known for urn, known in used.items())
    except SdmxError:
        return False
