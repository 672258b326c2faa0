"""Stacks of pieces: the interface of a piece, the keys of its headers, and the stack that applies pieces to records.

Of ``headers``, this package may import only ``errors``. Read ``piece`` first, then ``stack``.
"""
