"""The policy: what may be seen and stored, which version is in force, and how it changes."""
