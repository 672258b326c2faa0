"""Structure messages: their formats, their headers and artefacts, their character encodings. Nothing here parses.

``format`` works without the extra ``sdmx``. This package may import the model. Read ``message`` first.
"""
