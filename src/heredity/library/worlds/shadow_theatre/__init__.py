"""Shadow theatre: move puppets and a lamp until the shadows on the screen form a wanted silhouette."""
