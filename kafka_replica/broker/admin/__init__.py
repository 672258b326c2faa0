"""Queries to a cluster: its topics, their settings, offsets and transactions.

May import ``broker.connection``, ``broker.wire`` and ``broker.errors``. Read ``topics`` first.
"""
