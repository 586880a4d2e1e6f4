"""The journal of every call, in chains of hashes."""
