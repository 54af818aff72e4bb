"""The pages: each is a function from an index, and what was asked for, to a `View`."""
