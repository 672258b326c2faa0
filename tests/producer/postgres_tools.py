"""A real PostgreSQL for tests: that of `make chaos`."""

from __future__ import annotations

from chaos.postgres import LocalPostgres, find_binaries, free_port

__all__ = ["LocalPostgres", "find_binaries", "free_port"]
