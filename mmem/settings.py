"""Where things are and how they are shown: options first, then environment variables, then defaults."""

import os
from collections.abc import Mapping

from mmem.errors import Usage
from mmem.names import require_category

BASE_DIR_VARIABLE = "MEMORY_BASE_DIR"
CATEGORY_VARIABLE = "DEFAULT_CATEGORY"
FORMAT_VARIABLE = "SERIALIZATION_FORMAT"
ERRORS_VARIABLE = "MMEM_ERRORS"

DEFAULT_BASE_DIR = ".aim"
DEFAULT_CATEGORY = "default"
FORMATS = ("auto", "json", "jsonl", "toon", "yaml", "table")


def base_directory(option: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the base directory as an absolute path: the option, the variable, or `.aim` here.

    `~` is expanded, and a relative path is taken against the current directory.
    """
    given = option or environ.get(BASE_DIR_VARIABLE) or DEFAULT_BASE_DIR
    if "\0" in given:
        raise Usage("the base directory can't hold a NUL character")
    expanded = os.path.expanduser(given)
    if expanded.startswith("~"):
        raise Usage(f"the base directory {given} names a user that doesn't exist; ./{given} is the folder of that name")
    try:
        return os.path.abspath(expanded)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Usage(f"the current folder can't be told ({reason}): give an absolute --base-dir") from None


def default_category(option: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the category of requests that name none: the option, the variable, or `default`."""
    if option:
        return require_category(option, "--category")
    if given := environ.get(CATEGORY_VARIABLE):
        return require_category(given, CATEGORY_VARIABLE)
    return DEFAULT_CATEGORY


def output_format(option: str | None, on_terminal: bool, environ: Mapping[str, str] = os.environ) -> str:
    """Return the format to print in: `auto` is a table on a terminal, else what the variable names, else json."""
    if option and option != "auto":
        return option
    if on_terminal:
        return "table"
    given = environ.get(FORMAT_VARIABLE, "").strip().lower()
    if not given or given == "auto":
        return "json"
    if given not in FORMATS:
        raise Usage(f"{FORMAT_VARIABLE} is '{given}'; it can be {', '.join(FORMATS[1:])}")
    return given
