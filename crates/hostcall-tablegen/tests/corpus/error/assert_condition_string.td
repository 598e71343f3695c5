// The condition must be a bit.
assert "yes", "message";
