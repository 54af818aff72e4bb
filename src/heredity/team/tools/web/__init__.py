"""The team's doors to the web: a browser, a reader of single pages, search by other services, and the one rule that all obey."""
