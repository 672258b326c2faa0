"""General helpers: secrets, the wording of messages, HTML tables, property files, and clocks.

This package may import ``errors`` only. Each module can be read by itself.
"""
