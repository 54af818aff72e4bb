"""Commands for environments and policies."""
