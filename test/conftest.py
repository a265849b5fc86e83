"""Message field checks are read when a message module is imported: switch them on before any test module is."""

import os

os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"
