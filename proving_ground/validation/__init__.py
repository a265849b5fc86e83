"""The suite beside papers and references."""
