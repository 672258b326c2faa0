"""Access control: hosts, tokens, roles, client certificates and browser sessions.

From this service, the package may import only ``errors`` and ``settings``. Read ``gate`` first.
"""
