"""Subscriptions that are polled: no executor waits for them."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup


class PolledGroup(CallbackGroup):
    """Callback group whose subscriptions every executor ignores."""

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Never."""
