"""Container tasks: folders of the Harbor format, their tasksets, attempts and verification."""
