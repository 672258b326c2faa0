"""The values of components: the syntax of each text type, and the periods of time that values name.

Rules, mappings and data readers use these expressions; this package imports nothing. Read ``text_types`` first.
"""
