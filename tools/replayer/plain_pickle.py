# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pickles of plain data: whatever a pickle asks for by name is refused before anything is built."""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import Any, NoReturn


class UnsafePickleError(ValueError):
    """A pickle that holds more than plain data: it names a class or a function to call."""


class _PlainUnpickler(pickle.Unpickler):
    """Builds None, bool, numbers, strings, bytes, lists, tuples, dictionaries and sets.

    Every way by which a pickle can run code goes through a name that it looks up.
    """

    def find_class(self, module: str, name: str) -> NoReturn:
        raise UnsafePickleError(
            f"it asks for {module[:60]}.{name[:60]}, and only plain data is loaded from a pickle"
        )

    def persistent_load(self, pid: Any) -> NoReturn:
        raise UnsafePickleError("it refers to an object outside of the pickle")


def load_plain_pickle(data: bytes) -> Any:
    """Return the plain data of a pickle.

    Raises
    ------
    UnsafePickleError
        It names a class, a function, an extension or an outside object. Nothing was called.
    ValueError
        It is no pickle, or is cut.
    """
    # What another pickle had looked up by a number would come from here without being asked for.
    copyreg.clear_extension_cache()
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except UnsafePickleError:
        raise
    except EOFError:
        raise ValueError("the pickle is cut") from None
    except (pickle.UnpicklingError, MemoryError, OverflowError, RecursionError) as error:
        raise ValueError(f"not a pickle that can be read: {error}") from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a pickle that can be read: {error}") from None
