#!/bin/bash
# The reward is 1 if every check holds, and 0 otherwise.
exec python3 -I /tests/reward.py
