"""The writers: one room a format, each its reader the other way round; beside them what they share."""
