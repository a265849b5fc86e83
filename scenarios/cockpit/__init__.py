"""The 3D cockpit: a live page in the browser. Only cockpit_node and mailbox know ROS."""
