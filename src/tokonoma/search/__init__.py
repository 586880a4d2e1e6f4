"""The shared index over all modules: search by text and by vectors."""
