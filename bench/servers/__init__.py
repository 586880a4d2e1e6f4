"""The servers that Tokonoma is compared with."""
