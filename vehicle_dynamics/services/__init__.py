"""Services of simulation_interfaces, without ROS: each service fills its response or rejects the request."""
