// An assertion at the top.
assert !eq(1, 2), "one is not two";
