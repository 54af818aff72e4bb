"""A trek over unknown ground: reach a hut before dark, sparing strength, with the right thing on your feet."""
