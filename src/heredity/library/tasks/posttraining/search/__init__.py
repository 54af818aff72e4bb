"""`posttraining/search`: questions of one to three hops over documents that one has to find."""
