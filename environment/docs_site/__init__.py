"""The documentation site: which pages it has, their navigation, and links between pages and sources."""
