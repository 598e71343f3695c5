// An error in a record that a multiclass of a multiclass makes: the way there is told.
class A<int a> { bits<3> B = a; }
multiclass In<int n> { def _x : A<n>; }
multiclass Out<int n> { defm _in : In<n>; }
defm D : Out<9>;
