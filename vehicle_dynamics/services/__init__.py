"""What simulation_interfaces asks of a running simulation, without ROS: each service fills its response or refuses."""
