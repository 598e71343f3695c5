def d { bit m = !match("a", "[--a]"); }
