"""The 3D cockpit: a live page in the browser. Only cockpit.ros knows ROS."""
