"""`make screenshots`: pictures of the main pages in both languages, for the README and the guides."""
