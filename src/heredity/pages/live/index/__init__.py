"""Read model of a suite: the data of pages in SQLite, derived from the journals and updated from byte offsets."""

from heredity.pages.live.index.index import Index, Progress, index_path, open_index

__all__ = ["Index", "Progress", "index_path", "open_index"]
