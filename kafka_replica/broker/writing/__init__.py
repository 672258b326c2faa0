"""The transactional writer, size limits, dead letters, and tools that test writing and end open transactions.

This package may import the rest of ``broker``. Read ``writer`` first.
"""
