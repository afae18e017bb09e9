"""Completion for bash, zsh and fish: the scripts, where they go, and the names that TAB asks for."""
