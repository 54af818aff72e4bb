"""Rollouts: the engine that turns jobs into trajectories, and the kinds of tasks that it opens runners for.

`kind.py` and `contract.py` are the contracts; `episode/`, `question/`, `container/` and `world/` are kinds, each a folder.
"""
