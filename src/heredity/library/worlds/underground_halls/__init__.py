"""Underground halls: dig to the halls of an underground city and give them air, which rises from the deep."""
