"""What limits the steps of a host: one module a cause, and the loop that ranks them."""
