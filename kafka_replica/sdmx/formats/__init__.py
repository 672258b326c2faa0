"""The formats of structure messages: one package per format, and the modules that they share.

A format's package has one module per subject (codelists, hierarchies ...), which first reads and then writes it.
It may import the model and ``shared``, and no other format except the format whose edition it is. The two formats
in JSON share ``json_shared``.
Read ``ml/hierarchies.py`` first, then ``registry``, which names the modules of each format.
"""
