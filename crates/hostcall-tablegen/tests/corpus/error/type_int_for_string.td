// An integer where a string belongs.
class A { string S = 5; }
