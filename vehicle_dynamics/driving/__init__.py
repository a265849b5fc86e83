"""The driving vehicle: rigid bodies with tyres, brakes, powertrain, steering servo and body contact."""
