def d { bit m = !match("a", "a{1,256}"); }
