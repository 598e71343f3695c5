// An escape that is none.
def D { string S = "a\qb"; }
