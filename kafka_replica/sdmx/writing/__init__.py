"""The entry points for writing: artefacts in any format that can represent them, each message verified by reading it.

This package may import the formats and ``reading``. Read ``messages`` first.
"""
