"""Harness evolution (SEAGym): schedules push batches, and frozen snapshots are judged on views."""
