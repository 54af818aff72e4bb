"""Belt warehouse: bring marked crates to their bays, over belts that all run at once and can be reversed."""
