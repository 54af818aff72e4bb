"""Records: the journal, the blobs and the folder of a run."""

from heredity.records.blobs import Blob, BlobStore, Committer
from heredity.records.journal import Event, Journal, read_chain, read_journal
from heredity.records.run_folder import RunFolder, config_digest, load_config

__all__ = [
    "Blob",
    "BlobStore",
    "Committer",
    "Event",
    "Journal",
    "RunFolder",
    "config_digest",
    "load_config",
    "read_chain",
    "read_journal",
]
