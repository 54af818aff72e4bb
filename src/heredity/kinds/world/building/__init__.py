"""The kind of builds: turns an author's files into a world and runs the gates in separate, CPU-bound processes."""
