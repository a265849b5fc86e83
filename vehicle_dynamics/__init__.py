"""The vehicle as a multibody system. So far: closed-form kinematics of suspension and steering."""
