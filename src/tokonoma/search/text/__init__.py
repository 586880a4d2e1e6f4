"""Search by text: tokens, the term index, scores."""
