"""Sync of homes: each publishes its records with their versions, reads those of the others, and merges them."""
