"""How the built-in embedding model is made. Not part of the package; see README.md."""
