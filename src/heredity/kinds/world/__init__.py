"""Worlds: small text environments in three layers — dynamics, observation, skin — with certified bounds (AutoEnv).

A world is a folder of `library/`: `world.yaml` describes it, `dynamics.py` holds its rules and observations,
`levels.py` makes levels and proves their bounds, `levels.json` ships them.
"""
