"""Web: pages, searches and weather from the internet, read for the person."""
