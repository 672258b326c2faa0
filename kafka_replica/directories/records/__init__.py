"""The records of a directory: how a value is decoded, and what a record puts into the directory.

This package knows no replica, and imports nothing else of ``directories``. Read ``interpretation`` first.
"""
