// A brace too many.
class A {}
}
