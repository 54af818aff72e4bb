"""A team's access to the web: a browser, a page reader, web search, and their common rule."""
