"""Web API: the HTTP interface for the web page and for programs."""
