"""Episodes of environments, each with a confined policy process."""
