//! Nothing: the package fetches what it depends on.
