// A bit cannot be set twice by one `let`.
class A { bits<4> B; }
def D : A { let B{2, 1, 2} = 0b111; }
