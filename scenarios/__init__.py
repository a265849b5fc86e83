"""Running the suite: launch descriptions, supervisor, monitor, doctor and the `proving-ground` command line."""
