"""Live pages: of a served team (`team/`), and of runs and suites, while they run and afterwards.

`heredity view` consists of these parts, from the records up:

- **A read model.** `index/` keeps a SQLite file next to a suite (or a run that stands alone), derived from journals
and
  spans. Updates continue from byte offsets (nothing is read twice, and no journal is held in memory as a whole). Several
  processes may update it, since each step is one transaction that starts at the stored offset. Each line is checked
  against the chain of its journal; a journal that was cut (or replaced) is read again. Rows hold the data of lists,
  graphs and searches, and the position of the rest in the journal; trajectories, programs and replies stay in their
  blobs.
- **Pages.** `pages/` builds them from the neutral parts of `results/page.py`, and the renderer of reports draws them,
so
  both look and escape alike. A list is a window onto a query: the server returns any hundred rows (the script requests
  those in view). Without the script there are links to the next rows. Every page has its address.
- **A server.** `app.py` listens on 127.0.0.1 only, below a path that begins with a token; its `Gate` checks token, Host
and
  Origin. Suites, runs and rows are looked up by name or number in a listing, so a request's path never becomes a
  file's
  path.
- **Live updates.** While a page is open, `watching.py` updates the index once a second and notifies pages of changes
  (server-sent events); the script then requests the page again and replaces the parts that differ.
- **Actions.** `actions.py` starts, stops and resumes a suite like the command line: in another process, stopped by
SIGTERM.
"""
