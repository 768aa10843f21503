"""Hermes' pull asks tarfile for an extraction filter, which Python has from 3.11.4 on only; Debian 12's
is older. What this product hands to it holds regular files with safe names only, so that none is needed."""

from __future__ import annotations

import contextlib
import tarfile
import threading

_thread = threading.local()


class _TarFile(tarfile.TarFile):
    def extractall(self, path=".", members=None, *, numeric_owner=False, filter=None):
        if filter is not None and not getattr(_thread, "safe", False):
            raise TypeError("extractall() got an unexpected keyword argument 'filter'")
        super().extractall(path, members, numeric_owner=numeric_owner)


class _Module:
    """tarfile, as Hermes' file_sync sees it."""

    open = staticmethod(_TarFile.open)

    def __getattr__(self, name):
        return getattr(tarfile, name)


@contextlib.contextmanager
def safe_archive(user):
    """The calling thread extracts an archive of this product's in the module `user`; for everybody else
    a filter that is not there stays an error."""
    if not hasattr(tarfile, "data_filter") and user.tarfile is tarfile:
        user.tarfile = _Module()
    _thread.safe = True
    try:
        yield
    finally:
        _thread.safe = False
