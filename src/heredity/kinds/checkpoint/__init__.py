"""Post-training: agents improve a base model at a task; it is graded as a language model behind the gateway's contract."""
