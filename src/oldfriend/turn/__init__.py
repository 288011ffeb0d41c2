"""Turn: one reply, from the received message to the decision what to send and what to store."""
