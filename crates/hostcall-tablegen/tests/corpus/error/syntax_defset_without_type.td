// `defset` needs a type.
defset All = { }
