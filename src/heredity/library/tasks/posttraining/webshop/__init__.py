"""`posttraining/webshop`: the official WebShop, which the user has installed, in a process of its own."""
