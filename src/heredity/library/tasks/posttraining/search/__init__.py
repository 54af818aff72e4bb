"""`posttraining/search`: questions of one to three hops over documents that must be found."""
