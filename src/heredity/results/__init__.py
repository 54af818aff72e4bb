"""The schema of results: statuses and failure sources here, and what metrics.json holds.

Nothing is imported here: environment workers read `heredity.results.status`, and start in a fraction of pydantic's import.
"""
