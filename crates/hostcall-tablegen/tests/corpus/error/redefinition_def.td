// A record is defined once.
def D;
def D;
