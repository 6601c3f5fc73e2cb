"""Ways to reach a container: what a session needs of a connection (`base`), and its kinds."""
