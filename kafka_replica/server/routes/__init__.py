"""The routes of the service: SDMX REST, history, changes, data, and forwarding from workers to the main process.

From this service, the package may import only ``answers``, ``uploads`` and their dependencies. Read ``sdmx`` first.
"""
