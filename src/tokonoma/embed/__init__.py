"""Texts to vectors: providers, the durable queue, and the worker that empties it."""
