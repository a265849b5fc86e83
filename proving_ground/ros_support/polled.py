"""Subscriptions that are polled: no executor waits for them."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup


class PolledGroup(CallbackGroup):
    """Callback group whose subscriptions every executor ignores."""

    def can_execute(self, entity: Any) -> bool:
        """False: executors must not run callbacks of this group, its owner polls for messages."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """False: executors must not run callbacks of this group."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing to do: executors run no callbacks of this group."""
