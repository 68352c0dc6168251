"""Kafeneio for Python: `House` and its clients, programs that play, and the command `kafeneio`."""

import os

# gRPC reads it when it is loaded, which the next lines do. We start programs, but never fork to go
# on in both halves: its preparations for that complain, and once in a while kill the program.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from kafeneio_client.channel import new_id
from kafeneio_client.client import Client, House
from kafeneio_client.errors import KafeneioError, Refused, Unreachable
from kafeneio_client.money import Money

__all__ = ["Client", "House", "KafeneioError", "Money", "Refused", "Unreachable", "new_id"]
