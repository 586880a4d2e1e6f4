"""What can be observed: metrics and spans."""
