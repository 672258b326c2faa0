"""SDMX-ML 2.0 and 1.0: each module of a subject (``hierarchies`` ...) first reads it and then, if possible, writes it.

It may import the model, ``formats.shared``, and the parts of ``formats.ml`` that read and write XML of every edition.
Read ``hierarchies`` first, then ``reader`` and ``writer``, which find the function of a class.
"""
