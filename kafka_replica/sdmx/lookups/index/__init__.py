"""Indexes of the artefacts of a version: their keys, their references, and their dangling references.

All three are immutable and built on first use; the index of the next version is derived from the previous index and
the changes, and shares the rest with it.
"""
