"""Metrics and spans."""
