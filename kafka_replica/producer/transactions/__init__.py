"""Transactions of keys and values, without a database: all records of a transaction become visible together.

This package imports nothing else of the producer, and needs no extra. Read ``transactional_producer`` first.
"""
