"""The package `base` that files of a world folder import."""
