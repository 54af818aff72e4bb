"""Field probe: find the one true node of a field through a three by three window, and mark it."""
