"""`posttraining/deepsearchqa`: the user's copy of DeepSearchQA, with a search of the user's, decided by the judge."""
