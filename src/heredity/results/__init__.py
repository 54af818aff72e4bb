"""The schema of results, from journal to page: what was measured, and the neutral parts that pages are made of."""
