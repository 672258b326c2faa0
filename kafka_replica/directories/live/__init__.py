"""Directories that follow a replica: the directory itself, and the transactions of a database.

This package may import everything else in ``directories``. Read ``directory`` first.
"""
