"""The service over HTTP. Read ``rest/__init__.py`` first for the answers to SDMX REST queries."""
