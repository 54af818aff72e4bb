"""Answers that are compared with a reference answer: judges of two answers, and what rollouts such tasks."""
