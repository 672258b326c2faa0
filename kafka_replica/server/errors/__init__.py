"""Errors as answers: problem details in JSON, as pages, and as error messages of SDMX.

Of this service, the package may import ``rest`` and ``settings``. Read ``problems`` first.
"""
