"""The operators' view of the service: readiness, logs, metrics of requests, and control of producers.

From this service, the package may import only ``errors`` and ``settings``. Read ``health`` first.
"""
