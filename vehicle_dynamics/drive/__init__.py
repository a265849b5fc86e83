"""What turns and stops the wheels: brakes, engine, gearbox, differentials."""
