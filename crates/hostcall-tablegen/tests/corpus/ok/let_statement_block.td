// `let ... in { }` around several, with several fields, nested.
class A { int X = 1; int Y = 1; bits<4> B = 0; }
let X = 5, Y = 6 in {
  def D : A;
  let Y = 7, B<1> = 1 in
    def E : A;
}
def F : A { let X = 2; }
let X = 8 in def G : A { let X = 2; }
