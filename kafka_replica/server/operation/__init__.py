"""Everything that operators see and control: readiness, logs, metrics of requests, producers.

Of this service, the package may import ``errors`` and ``settings``. Read ``health`` first.
"""
