"""Resource evolution: operators commit or refuse edits, and the last commit is judged (Autogenesis)."""
