"""Live page of a served team: plan, agents, messages, results."""
