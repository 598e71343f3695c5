def tree { dag d = ([?] 1); }
