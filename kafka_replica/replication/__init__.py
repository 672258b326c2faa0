"""The thread that reads the log, applies committed transactions to the store and publishes each version.

May import everything of the core except ``replica``. Read ``follower`` first, which ``supervisor`` restarts.
"""
