"""The `proving-ground` command."""
