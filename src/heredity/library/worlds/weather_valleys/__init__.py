"""Weather valleys: water the crops of two valleys with interventions whose later effects are the opposite of the first."""
