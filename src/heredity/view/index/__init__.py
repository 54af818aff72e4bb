"""The read model of a suite: what pages ask for, in SQLite, derived from the journals and kept up to date from byte offsets."""

from heredity.view.index.index import Index, Progress, index_path, open_index

__all__ = ["Index", "Progress", "index_path", "open_index"]
