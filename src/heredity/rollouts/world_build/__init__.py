"""The kind of builds: an author's files become a world, which meets gates; in processes of its own, since gates compute."""
