// An identifier may begin with digits.
class 3D<int depth> { int Depth = depth; }
def 2nd : 3D<8>;
def _under;
