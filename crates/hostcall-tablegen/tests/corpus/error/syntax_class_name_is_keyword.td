// A keyword is no name.
class def { }
