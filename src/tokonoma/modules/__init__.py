"""The built-in modules; none of them imports another."""
