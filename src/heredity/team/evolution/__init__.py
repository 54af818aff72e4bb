"""A team that improves itself: between the rounds of a task, and across tasks (Autogenesis, sections 3.2 and 4)."""
