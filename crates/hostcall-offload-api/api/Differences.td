// What LLVM 24 has and LLVM 23 does not, where a definition of both mentions it: nothing.

// The parameter and the results of functions that work in a context.
defvar InContext = []<Param>;
defvar OfContext = []<Return>;
defvar NotInContext = []<string>;
defvar NoHostType = []<string>;

// Enumerators, at their places.
defvar ContextCode = []<Etor>;
defvar ContextProperty = []<TaggedEtor>;
defvar LaneProperty = []<TaggedEtor>;
defvar MoreDeviceProperties = []<TaggedEtor>;
defvar MorePlatformProperties = []<TaggedEtor>;
defvar MoreSymbolProperties = []<TaggedEtor>;
