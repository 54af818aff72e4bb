"""A team on a taskset of questions: levels, costs, and what its record shows (Autogenesis, table 2)."""
