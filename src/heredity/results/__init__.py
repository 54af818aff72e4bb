"""Schema of results: statuses and failure sources, and the content of metrics.json.

Nothing is imported here: environment workers read `heredity.results.status`, and start in a fraction of pydantic's
import.
"""
