"""Named choices of the vehicle; without imports, for code that only lists them."""

FIDELITIES = ("multibody", "single_track")
TWIST_TYPES = ("auto", "twist", "twist_stamped")
TF_SOURCES = ("truth", "observer")
DIVERGED = "diverged"  # state of a simulation whose motion is not physical
OVER = "over"  # state of a simulation whose run has ended
