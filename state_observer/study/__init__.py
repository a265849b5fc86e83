"""The study of [Sanjurjo] chapter 4: cases, figures of merit, observability, pictures and report."""
