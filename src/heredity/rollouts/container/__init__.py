"""Container tasks: a harness in a conversation, commands in the task's container, and the verification."""
