"""Belt warehouse: bring marked crates to their bays, over belts that run simultaneously and can be reversed."""
