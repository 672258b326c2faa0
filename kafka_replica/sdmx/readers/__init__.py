"""The readers: one room a format, all giving the same model; below them what they share."""
