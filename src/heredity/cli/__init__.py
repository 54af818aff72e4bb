"""The command line: thin faces over the public API."""
