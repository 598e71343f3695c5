// `include` needs a string.
include nowhere
