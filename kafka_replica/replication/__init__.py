"""The thread that reads the log, applies committed transactions to the store and publishes each version.

This package may import all of the core except ``replica``. Read ``follower`` first, which ``supervisor`` restarts.
"""
