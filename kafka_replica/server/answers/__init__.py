"""Building blocks of answers: versions, caches, entity tags, compression, files and threads.

From this service, the package may import only ``errors``, ``data``, ``rest`` and ``settings``.
Read ``versions`` first.
"""
