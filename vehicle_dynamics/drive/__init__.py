"""Drive and brakes of the wheels: brakes, engine, gearbox, differentials."""
