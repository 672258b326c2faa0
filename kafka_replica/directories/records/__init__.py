"""The records of a directory: how a value is decoded, and what a record puts into the directory.

This package imports neither replicas nor anything else of ``directories``. Read ``interpretation`` first.
"""
