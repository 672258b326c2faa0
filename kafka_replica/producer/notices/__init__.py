"""Notices of a producer to its observers, and two observers: the counts of an instance, and mails to administrators.

This package imports nothing else of the producer. Read ``notices`` first.
"""
