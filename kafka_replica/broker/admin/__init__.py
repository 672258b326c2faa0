"""Queries to a cluster: its topics, their settings, offsets and transactions.

From ``broker``, this package may import ``connection``, ``wire``, ``errors`` and ``topic_settings``. Read ``topics``
first.
"""
