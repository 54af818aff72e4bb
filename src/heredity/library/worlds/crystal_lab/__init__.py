"""Crystal lab: prepare a flask from labelled bottles, batch after batch, and grow as many crystals as time allows."""
