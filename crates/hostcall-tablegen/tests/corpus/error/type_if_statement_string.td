// The condition of `if` must be a bit.
if "yes" then def D;
