// `defvar` needs a value.
defvar x;
