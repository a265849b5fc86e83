"""The roll angle of a bicycle from cheap sensors ([Sanjurjo] Section 3.2): a small worked example."""
