"""Requests with a body: received within limits, and processed in a folder of their own.

Of this service, the package may import ``answers``, ``data``, ``errors`` and ``settings``. Read ``receiving`` first.
"""
