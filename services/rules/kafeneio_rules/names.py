"""What `rules` is called in PostgreSQL."""

from typing import Final

SCHEMA: Final = "rules"
"""Also the channel on which appends are notified."""
