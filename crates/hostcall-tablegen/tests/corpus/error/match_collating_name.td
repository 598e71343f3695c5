def d { bit m = !match("a", "[[.nothing.]]"); }
