"""Pages: each is a function from an index and a request to a `View`."""
