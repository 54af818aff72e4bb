"""Post-training: agents that make a base model better at a task, graded as a language model behind the gateway's contract."""
