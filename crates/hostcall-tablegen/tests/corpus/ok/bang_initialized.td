// `!initialized` asks whether a value is set, once that is known.
class A<int x = ?> { int X = x; bit HasX = !initialized(x); }
def D : A<?>;
def E : A<4>;
def F { string S = "s"; bit HasS = !initialized(S); bit HasNothing = !initialized(?); }
