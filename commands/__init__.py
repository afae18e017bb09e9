"""The subcommands, one file each: its request type, its command function, its click command."""
