// A type by another name.
deftype Word = int;
deftype Words = list<int>;
class A<Word w> { Word W = w; Words L = [w]; }
def D : A<3>;
