"""Look-ups of artefacts in one version, and everything derived from them: references, constraints, resolved structures.

Start with ``structures.py``: ``Structures`` only connects its parts. ``decoding.py`` decodes records,
``artefact_locator.py`` finds the record of a URN, ``artefacts.py`` returns artefacts and items, ``reference_graph.py``
follows references, ``attached_artefacts.py`` finds constraints, ``resolution.py`` applies the rules of the standard to
a structure's components.
"""
