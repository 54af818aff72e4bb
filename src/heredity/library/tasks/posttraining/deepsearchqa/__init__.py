"""`posttraining/deepsearchqa`: the user's copy of DeepSearchQA and search, decided by the judge."""
