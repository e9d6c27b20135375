"""Finished runs as one."""
