"""What `clock` is called in PostgreSQL."""

from typing import Final

SCHEMA: Final = "clock"
"""Also the channel on which replicas tell each other what has changed."""
