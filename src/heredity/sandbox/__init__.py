"""Confinement of processes: namespaces, Landlock, seccomp, bubblewrap; zygotes, guests, and watches over memory and disk."""
