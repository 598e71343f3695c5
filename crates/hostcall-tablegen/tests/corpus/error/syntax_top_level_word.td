// What begins no statement.
class A;
hello
