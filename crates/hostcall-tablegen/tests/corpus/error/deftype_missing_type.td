// `deftype` needs a type.
deftype X = 5;
