"""Building blocks of answers: versions, caches, entity tags, compression, files and threads.

From this service, the package may import only ``errors``, ``data``, ``rest``, ``quality_values`` and ``settings``.
Read ``versions`` first.
"""
