// Records come out in the order of their names' bytes.
def b; def B; def a; def A; def _x; def a10; def a9; def "Z z"; def "1st";
