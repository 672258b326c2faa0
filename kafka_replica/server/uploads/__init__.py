"""Requests with a body, which are received within limits, and processed in a temporary folder.

From this service, the package may import only ``answers``, ``data``, ``errors`` and ``settings``. Read ``receiving``
first.
"""
