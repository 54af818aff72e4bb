"""Weather valleys: water the crops of two valleys with interventions whose later effects oppose the first."""
