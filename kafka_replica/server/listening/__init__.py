"""Sockets, TLS, connections and notifications to systemd.

Of this service, the package may import ``access`` and ``settings``. Read ``sockets`` first.
"""
