// Letters' case; other bytes stay.
def D { string A = !tolower("AbC-1"); string B = !toupper("AbC_9z"); }
