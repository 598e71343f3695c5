// Division by zero.
def D { int X = !div(5, 0); }
