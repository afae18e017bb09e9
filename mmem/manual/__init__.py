"""The manual: pages made from the commands and from written topics, as roff for `man` and as plain text."""
