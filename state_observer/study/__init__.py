"""The study of seed 001 chapter 4: cases, figures of merit, observability, pictures and report."""
