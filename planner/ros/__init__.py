"""The nodes that drive: planner, teleop, joystick, keyboard."""
