"""The record headers that this package understands: ``transactions`` says who wrote a record, when, and why.

May import ``records`` and ``errors``. Read ``transactions`` first.
"""
