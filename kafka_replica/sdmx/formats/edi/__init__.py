"""SDMX-EDI (GESMES/TS): each module of a subject (``codelists`` ...) first reads and then writes it.

It may import the model and ``formats.shared``, but no other format.
Read ``codelists`` first, then ``reader`` and ``writer``, which find the function of a class.
"""
