"""The day runs backward: go back through a chain of causes, change the morning, and set the evening right."""
