"""The modules that SDMX-JSON and Fusion-JSON share, which name their members differently but work in the same way.

They import the model and ``shared``, and neither of the two formats. Read ``values.py`` first, then
``format_detection.py`` and ``splitting.py``.
"""
