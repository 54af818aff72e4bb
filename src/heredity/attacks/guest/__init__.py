"""Files that attack programs bring into the sandbox."""
