"""The modules that several formats share: ``reading`` and ``writing``.

They import the model, and no format. Read ``reading/error_collector.py`` and ``writing/conversion.py`` first.
"""
