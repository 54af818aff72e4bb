"""Tasks that come with Heredity."""
