"""`posttraining/webshop`: the official WebShop, installed by the user, in a separate process."""
