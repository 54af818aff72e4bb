"""Pages to look at: a team that is served (`team/`), and runs and suites, while they go on and afterwards.

What `heredity view` is made of, from the records up:

- **A read model.** `index/` keeps a SQLite file beside a suite (or a run that stands alone), derived from journals and spans.
  It is brought up to date from byte offsets: what was read is not read again, and no journal is ever held as a whole. Whoever
  looks does so, and several may, since each step is one transaction that begins where the file says. A line is checked
  against the chain of its journal, and a journal that was cut or replaced is read again. Rows hold what lists, graphs and
  searches need, and where in the journal the rest stands; trajectories, programs and replies stay in their blobs.
- **Pages.** `pages/` makes them of the neutral parts of `results/page.py`, and they are drawn by the renderer of reports, so
  that both look and escape alike. A list is a window onto a query: the server answers any hundred rows of it, the script asks
  for those that are in view, and without the script there are links to the next. Every page stands at an address of its own.
- **A server.** `app.py` answers on 127.0.0.1 alone, below a path that begins with a token; `gate.py` checks token, Host and
  Origin. Suites, runs and rows are looked up by name or number in what was listed, so no path of a request ever becomes a
  path of a file.
- **Live.** While somebody looks, `watching.py` brings the index up to date once a second and tells each page (server-sent
  events) that something has changed; the script then asks for the page again and puts in what differs.
- **Actions.** `actions.py` starts, stops and resumes a suite as the command line does: another process, told to end by
  SIGTERM.
"""
