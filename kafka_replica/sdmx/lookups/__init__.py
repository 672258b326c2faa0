"""The look-ups: artefacts of one version by URN, pattern, version rule and reference; live, decoded once."""
