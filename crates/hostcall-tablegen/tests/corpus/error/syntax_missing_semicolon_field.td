// A field without `;`.
class A { int X = 1 }
