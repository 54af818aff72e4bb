"""Analysis: everything that is computed from journals and metrics, and nothing that is stored."""
