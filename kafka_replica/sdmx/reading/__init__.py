"""The entry points for reading: a message in any format, as a whole or split into one message per artefact.

This package may import the formats, which it selects by the content. Read ``messages`` first.
"""
