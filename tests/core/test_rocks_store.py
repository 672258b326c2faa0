"""The store on disk: the contract of all stores, and what is its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_contract import StoreContract

from kafka_replica import (
    RocksStore,
    Store,
)


class TestRocksStore(StoreContract):
    """The contract."""

    @pytest.fixture(autouse=True)
    def _folder(self) -> Iterator[None]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            self.folder, self.made = Path(name), 0
            yield

    def make(self) -> Store:
        """An empty one."""
        self.made += 1
        return RocksStore(self.folder / str(self.made))
