"""What people can choose between by name; without imports, for those who only list it."""

FIDELITIES = ("multibody", "single_track")
TWIST_TYPES = ("auto", "twist", "twist_stamped")
TF_SOURCES = ("truth", "observer")
DIVERGED = "diverged"  # state of a simulation whose motion no vehicle has
