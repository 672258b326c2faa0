"""General helpers: secrets, the wording of messages, property files, clocks, chains of errors, and more.

This package may import only ``errors``. Each module can be read on its own.
"""
