"""Worker processes, which answer requests from the same versions; see docs/server-workers.md.

The main process has the replica and its history. ``feed`` sends each version to the workers, which ``processes``
starts, monitors and ends. A worker (``worker``) keeps a copy of the versions (``copy``) and answers with the usual app.
Read ``main_process`` first, then ``feed`` and ``copy``.
"""
