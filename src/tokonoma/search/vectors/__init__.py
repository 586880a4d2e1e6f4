"""Searching by vectors."""
