// `list` needs the type of its elements.
class A { list L; }
