"""Tyres on hard ground."""
