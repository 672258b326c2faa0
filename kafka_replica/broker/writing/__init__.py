"""The transactional writer, size limits, and a probe that shows whether a topic can be written to.

This package may import ``broker.connection``, ``broker.admin`` and ``broker.errors``. Read ``writer`` first.
"""
