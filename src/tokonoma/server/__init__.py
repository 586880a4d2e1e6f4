"""What the outside touches."""
