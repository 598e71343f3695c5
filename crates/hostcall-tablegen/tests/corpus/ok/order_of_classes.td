// Classes come out in the order of their names' bytes.
class b; class B; class a9; class a10; class _;
