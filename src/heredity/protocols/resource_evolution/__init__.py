"""Resource evolution: operators commit or refuse edits, the last commit is judged (Autogenesis)."""
