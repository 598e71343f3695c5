// An assertion in a class, of a record made from it.
class A<int x> {
  assert !gt(x, 0), "x must be positive, and is " # x;
}
def D : A<-1>;
