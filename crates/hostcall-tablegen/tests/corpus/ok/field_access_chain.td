// A field of a field of a field.
class In { int V = 5; }
def I : In;
class Mid { In M = I; }
def Mi : Mid;
def Out { Mid O = Mi; int V = O.M.V; }
