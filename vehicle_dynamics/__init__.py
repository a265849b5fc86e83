"""The vehicle as a multibody system: suspensions, steering, tyres, powertrain, integrators, drive-by-wire."""
