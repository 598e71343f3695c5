// The type of an empty list's elements must be known.
defvar x = !size([]);
