"""What readers of a replica see: the current version, its status, earlier versions and latencies.

May import ``listeners``, ``stores`` and what is below them. Read ``publisher`` first.
"""
