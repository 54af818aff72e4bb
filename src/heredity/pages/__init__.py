"""Reports and the live page."""
