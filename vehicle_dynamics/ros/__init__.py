"""The vehicle node, its messages and its command inputs."""
