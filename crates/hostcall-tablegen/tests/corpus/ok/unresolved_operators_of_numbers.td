// How operators over unknown numbers are printed.
class A<int x, int y, bit b, bits<4> v> {
  int Add = !add(x, y, 1); int Sub = !sub(x, y); int Mul = !mul(x, y); int Div = !div(x, y);
  int And = !and(x, y); int Or = !or(x, y); int Xor = !xor(x, y); bit Not = !not(b);
  int Shl = !shl(x, 2); int Srl = !srl(x, 2); int Sra = !sra(x, 2); int Log = !logtwo(x);
  bit Eq = !eq(x, y); bit Ne = !ne(x, 1); bit Lt = !lt(x, y); bit Le = !le(x, y); bit Gt = !gt(x, y); bit Ge = !ge(x, y);
  int If = !if(b, x, y); int Cond = !cond(b: x, !eq(x, 1): y, true: 0);
  bits<4> Bits = v; bit One = v{2}; bits<2> Two = v{3-2}; int Back = v; bits<8> Wide = { v, 0, 0, b, ? }; bits<4> FromInt = x;
}
