"""Texts → vectors: models, the durable queue, and the worker that empties it."""
