"""The one shared index over all modules."""
