"""The modules that several formats share: ``reading`` and ``writing``.

They import the model, and no format. Read ``reading/collecting.py`` and ``writing/representable.py`` first.
"""
