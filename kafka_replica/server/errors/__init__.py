"""Error answers: problem details in JSON, HTML pages, and SDMX error messages.

From this service, the package may import only ``rest`` and ``settings``. Read ``problems`` first.
"""
