"""Answers compared with a reference answer: judges of two answers, and the runner of such tasks."""
