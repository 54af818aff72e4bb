"""Content: worlds, tasks, agents, harnesses, suites and offline models. It is registered, never imported directly."""
