"""Sockets, TLS, connections and notifications to systemd.

From this service, the package may import only ``access`` and ``settings``. Read ``sockets`` first.
"""
