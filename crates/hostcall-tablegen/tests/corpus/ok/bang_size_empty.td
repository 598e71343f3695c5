// Sizes of lists, strings and dags, and whether they are empty.
def op;
def D { int A = !size([1, 2]); int B = !size("four"); int C = !size((op 1, 2, 3)); bit E = !empty([]<int>); bit F = !empty("x"); bit G = !empty((op)); bit H = !empty(""); }
