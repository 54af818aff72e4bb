"""Gates: what a world has to pass before agents are measured in it, executed."""
