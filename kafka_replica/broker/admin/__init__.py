"""Queries to a cluster: its topics, their settings, offsets and transactions.

This package may import ``broker.connection``, ``broker.wire`` and ``broker.errors``. Read ``topics`` first.
"""
