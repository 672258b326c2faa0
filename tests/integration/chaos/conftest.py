"""A hand-written run for each test."""

from support.chaos.fixtures import world

__all__ = ["world"]
