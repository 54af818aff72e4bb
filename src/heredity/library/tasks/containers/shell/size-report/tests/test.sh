#!/bin/bash
# The reward is 1 if every check holds, and 0 otherwise.
if python3 -I /tests/check.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
