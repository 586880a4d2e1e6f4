"""What may be seen and done."""
