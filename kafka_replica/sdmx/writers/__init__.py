"""The writers: one package per format, each the inverse of its reader, and the modules that they share."""
