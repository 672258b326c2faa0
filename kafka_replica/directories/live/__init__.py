"""Directories that follow a replica, and the versions of a replica that consist of whole database transactions.

This package may import everything else in ``directories``. Read ``directory`` first.
"""
