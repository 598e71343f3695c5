// The operator of a dag must be a record.
def D { dag X = (5 1); }
