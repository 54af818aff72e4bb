"""Harness evolution: schedules push batches, frozen snapshots are judged on views (SEAGym)."""
