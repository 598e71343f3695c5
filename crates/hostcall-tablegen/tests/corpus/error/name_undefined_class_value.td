// An anonymous record of a class that there is not.
class A;
def D { int X = Nothing<1>.Y; }
