"""World generation: an author makes a world on a theme, which is admitted to a library or is not (AutoEnv, section 3.2)."""
