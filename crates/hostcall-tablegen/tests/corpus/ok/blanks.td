// Tabs and carriage returns are blanks.
class A	{	int X = 1;
}
def	D : A;	
