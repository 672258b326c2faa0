"""Indexes of the artefacts of a version: their keys, references, dangling references and attachments.

All are immutable and built on first use; the index of the next version is derived from the previous index and the
changes, and shares the rest with it. ``indexes.py`` holds the indexes of one version together.
"""
