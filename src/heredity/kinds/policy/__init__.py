"""Episodes: policy programs that act in gymnasium environments."""
