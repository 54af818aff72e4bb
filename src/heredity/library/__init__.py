"""Content: worlds, tasks, agents, harnesses, suites and offline models. Nothing imports it; it is registered."""
