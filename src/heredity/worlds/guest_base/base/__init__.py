"""What the files of a world folder import: the package `base` that they expect beside them."""
