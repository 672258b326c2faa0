"""The making of answers: the version they come from, caches, entity tags, compression, files, threads.

Of this service, the package may import ``errors``, ``data``, ``rest`` and ``settings``. Read ``versions`` first.
"""
