// A record may name itself in its own fields.
class Node { Node Next = ?; }
def Loop : Node { let Next = Loop; }
