def d { bit m = !match("a", "a{256}"); }
