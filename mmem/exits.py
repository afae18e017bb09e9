"""The exit statuses of the command line."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """What a script may rely on; a closed set."""

    OK = 0
    FAILED = 1  # some requests of a batch failed, a prompt was declined, or a bug
    USAGE = 2  # the words or the request are wrong
    NOT_FOUND = 3  # a named entity or category isn't there
    RETRY = 4  # lost a race, or the file was locked for too long
    STORAGE = 5  # not a database, unreadable, disk full: trying again won't help
    INTERRUPTED = 130  # 128 + SIGINT, as shells count
    CLOSED_PIPE = 141  # 128 + SIGPIPE
    TERMINATED = 143  # 128 + SIGTERM
