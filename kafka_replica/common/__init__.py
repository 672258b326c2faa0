"""Helpers without a subject of their own: secrets, wording of messages, HTML tables, property files, the two clocks.

May import ``errors`` only. Read any file alone.
"""
