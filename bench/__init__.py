"""What Tokonoma costs, measured beside the official SDK and beside the floor, in one run."""
