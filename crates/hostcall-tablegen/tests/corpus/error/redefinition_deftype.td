// A type's name must be free.
class A;
deftype A = int;
