"""Post-training: an agent trains a model within its time, a server grades its checkpoints (Agent² RL-Bench)."""
