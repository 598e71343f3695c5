// A class with neither arguments nor a body.
class Empty;
class Braces {}
def A : Empty;
def B : Braces;
