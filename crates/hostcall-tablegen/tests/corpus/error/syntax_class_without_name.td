// A class needs a name.
class { }
