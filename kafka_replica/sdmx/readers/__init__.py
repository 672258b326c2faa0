"""The readers: one package per format, all producing the same model, and the modules that they share."""
