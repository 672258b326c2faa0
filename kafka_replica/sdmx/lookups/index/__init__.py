"""What is known of the artefacts of a version: by their keys, what they refer to, and which references lead nowhere.

All three are immutable and made at first use; the one of the next version is made of the one before and what has
changed, and shares the rest with it.
"""
