// The elements of lists are converted as well.
def D { list<bits<3>> B = [1, 2, 7]; list<bit> T = [true, false]; list<bit> U = [0, 1]; }
