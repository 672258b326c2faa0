"""The check of who may send a request: hosts, tokens, roles, client certificates, sessions of browsers.

Of this service, the package may import ``errors`` and ``settings``. Read ``gate`` first.
"""
