"""What collections, keys and globs may be called. Pure."""

import re

MAX_COLLECTION = 100
MAX_KEY = 200
CHARACTERS = "letters, digits and . _ : ~ @ -"  # nothing that a path, a glob or a reader could take for something else

_NAME = r"(?!\.{1,2}\Z)[A-Za-z0-9._:~@-]"  # `.` and `..` would be taken for folders on the way here
COLLECTION = re.compile(rf"{_NAME}{{1,{MAX_COLLECTION}}}")
KEY = re.compile(rf"{_NAME}{{1,{MAX_KEY}}}")
PREFIX = re.compile(rf"[A-Za-z0-9._:~@-]{{0,{MAX_KEY}}}")


def checked_glob(glob: str) -> str:
    """ValueError says what it must be: `*`, a collection's name, or the beginning of names, which ends with a colon, and `*`."""
    if not 1 <= len(glob) <= MAX_COLLECTION:
        raise ValueError(f"must have 1 to {MAX_COLLECTION} characters")
    if "*" in glob[:-1] or (glob.endswith("*") and glob != "*" and not glob.endswith(":*")):
        raise ValueError("has a * in the wrong place: it stands alone, or at the end after a colon, as in orders:*")
    if glob != "*" and not COLLECTION.fullmatch(glob.removesuffix("*")):
        raise ValueError(f"must be *, a name of {CHARACTERS}, or such a name with :* at its end")
    return glob
