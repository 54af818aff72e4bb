"""Policy evolution: episodes are bought, validation picks a checkpoint, held-out scores it (EvoPolicyGym)."""
