"""What is measured. Each module has `run(say) -> dict`: figures beside figures to compare with, from one run."""

# Name on the command line -> module. Kept by hand: programs read the JSON under these names.
BENCHMARKS = {"teleop": "benchmark.teleop"}
