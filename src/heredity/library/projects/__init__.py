"""Projects that `heredity init` writes: each folder is one, as it is; the first line of its README.md says what it is for."""
