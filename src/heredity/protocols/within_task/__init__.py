"""Evolution within a task: its protocol, what it measures, and what it has to say on pages."""
