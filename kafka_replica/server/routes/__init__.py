"""The routes of the service: SDMX REST, history, changes, data, and what workers forward.

Of this service, the package may import ``answers``, ``uploads`` and all packages below these. Read ``sdmx`` first.
"""
