"""How fast a replica is, as ratios taken in one run: ``python -m benchmarks``; docs/speed.md says what is measured."""
