"""`mmem serve`: the tools over the Model Context Protocol. Only here is the `mcp` SDK imported."""
