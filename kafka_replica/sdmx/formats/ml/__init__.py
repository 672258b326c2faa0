"""SDMX-ML 2.1, 3.0 and 3.1: each module of a subject (``hierarchies`` ...) first reads and then writes it.

It may import the model, ``formats.shared`` and its own parts of ``reading`` and ``writing``, but no other format.
Read ``hierarchies`` first, then ``reader`` and ``writer``, which find the function of a class.
"""
