"""Rollouts: the engine that turns jobs into trajectories, and the contract of the kinds of tasks.

`kind.py` and `runner.py` hold the contracts; the kinds themselves are the folders of `heredity.kinds`.
"""
