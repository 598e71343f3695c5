// An operator needs `)`.
def D { int X = !add(1, 2; }
