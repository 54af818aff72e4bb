"""Post-training: an agent trains a model within a time limit, and a server grades its checkpoints (Agent² RL-Bench)."""
