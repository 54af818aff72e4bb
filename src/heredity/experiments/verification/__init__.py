"""Verification of a run's or a suite's claims without trust in its owner: `heredity verify`."""
