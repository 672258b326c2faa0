"""The names of artefacts and items: URNs, the classes that they name, and the order of versions.

This package needs no library, so it works without the extra ``sdmx``. It may import the errors of ``sdmx`` only. Read
``urn`` first.
"""
