"""World generation: an author makes a world on a theme, and gates admit it to a library or reject it (AutoEnv, section 3.2)."""
