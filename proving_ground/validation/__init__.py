"""The suite compared with papers and references."""
