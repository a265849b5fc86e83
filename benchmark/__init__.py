"""What is measured. Each module has `run(say) -> dict`: figures beside figures to compare with, from one run."""

# Name on the command line -> module. Kept by hand, so that listing them imports nothing.
BENCHMARKS = {"teleop": "benchmark.teleop"}
