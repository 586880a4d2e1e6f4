"""The journal of every call, and what can be observed of it: metrics and spans."""
