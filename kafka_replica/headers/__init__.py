"""The record headers that this library understands: ``transactions`` has those of the source's transactions.

This package may import ``records`` and ``errors``. Read ``transactions`` first.
"""
