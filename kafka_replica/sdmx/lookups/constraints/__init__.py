"""The meaning of data constraints, defined once: validation compiles it, look-ups apply it to codes."""
