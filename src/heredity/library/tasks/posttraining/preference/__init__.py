"""`posttraining/preference`: answers to instructions, compared with a reference answer by a judge."""
