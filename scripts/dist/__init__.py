"""`make dist`: build what is published, and try it as people install it."""
