"""Before anything is started: nobody else has the folder or the ports."""

from __future__ import annotations

import fcntl
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kafeneio_up.parts import HOST
from kafeneio_up.process import StartError


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """The folder is ours while this process lives. Raises StartError where it is another's."""
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartError(
                f"A house is open on {folder.parent} already. Stop it, or choose another folder"
                " (KAFENEIO_DATA_DIR)."
            ) from None
        yield


def check_free(ports: Iterable[int]) -> None:
    """Raises StartError where somebody listens on one of the ports already."""
    for port in ports:
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((HOST, port))
            except OSError as error:
                raise StartError(
                    f"Port {port} can't be used: {error.strerror}. Perhaps a house runs already."
                ) from None
