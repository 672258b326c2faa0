"""The meaning of constraints on data, once for all who need it: validation compiles it, look-ups apply it to codes."""
