"""Questions answered by solvers."""
