"""Teams on tasksets of questions: levels, costs, and the team's record (Autogenesis, table 2)."""
