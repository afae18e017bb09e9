"""The program: `mmem`, or `python -m mmem`."""

import gc
import sys


def main() -> None:
    """Run the command line. `mmem --version` and what TAB asks for are answered before anything is imported."""
    if sys.argv[1:] == ["--version"]:
        from mmem import __version__

        try:
            sys.stdout.write(f"mmem {__version__}\n")
            sys.stdout.flush()
            return
        except (OSError, AttributeError):
            pass  # the full command line knows what to say
    if sys.argv[1:2] == ["__complete"]:
        from mmem.shells.names import answer

        answer(sys.argv[2:])
        return
    gc.disable()  # a command is over before a collection pays; what runs for long turns it on again
    try:
        from mmem.cli import cli

        cli()
    except KeyboardInterrupt:  # while modules were being imported
        sys.exit(130)


if __name__ == "__main__":
    main()
