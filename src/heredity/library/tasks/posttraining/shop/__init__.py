"""`posttraining/shop`: shopping by search and click, with a dense reward."""
