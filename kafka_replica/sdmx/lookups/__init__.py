"""Look-ups of artefacts in one version, by URN, pattern, version rule and reference; live, and decoded once."""
