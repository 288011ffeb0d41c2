"""Attribution: finds which words of a message are not the author's own."""
