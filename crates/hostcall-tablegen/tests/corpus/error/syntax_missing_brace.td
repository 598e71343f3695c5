// A body that ends with the file.
class A { int X = 1;
