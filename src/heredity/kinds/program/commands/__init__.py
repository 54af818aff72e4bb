"""Commands of the command line that evolve programs."""
