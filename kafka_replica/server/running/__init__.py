"""Running the service: the HTTP server around the app, in one process or with workers.

This package may import the app and everything below it. Read ``serve`` first, then ``http_server`` and ``workers``.
"""
