"""The graph as one HTML page that needs no network."""
