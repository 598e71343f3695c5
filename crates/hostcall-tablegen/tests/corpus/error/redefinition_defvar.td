// A variable is defined once in its scope.
defvar x = 1;
defvar x = 2;
