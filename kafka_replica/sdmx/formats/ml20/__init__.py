"""SDMX-ML 2.0 and 1.0: each module of a subject (``hierarchies`` ...) first reads and, if it is written, writes it.

It may import the model, ``formats.shared``, and from ``formats.ml`` what reads and writes XML of every edition.
Read ``hierarchies`` first, then ``reader`` and ``writer``, which find the function of a class.
"""
