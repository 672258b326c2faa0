"""The public state of a replica: the current version, the status, earlier versions and latencies.

This package may import ``listeners``, ``stores`` and the packages below them. Read ``publisher`` first.
"""
