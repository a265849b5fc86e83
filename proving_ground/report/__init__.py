"""Reports of runs: what a run leaves behind in its folder, and pages made of it."""
