"""The speed of a replica, as ratios taken in one run: ``python -m benchmarks``; docs/speed.md has the details."""
