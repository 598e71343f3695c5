//! The bang operators and their spelling.

macro_rules! operators {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// The name without the `!`.
            pub(crate) fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

operators! {
    /// Operators of one operand.
    UnOp {
        ToLower = "tolower",
        ToUpper = "toupper",
        Cast = "cast",
        Not = "not",
        Head = "head",
        Tail = "tail",
        Size = "size",
        Empty = "empty",
        GetDagOp = "getdagop",
        GetDagOpName = "getdagopname",
        Log2 = "logtwo",
        Repr = "repr",
        ListFlatten = "listflatten",
        Initialized = "initialized",
    }
}

operators! {
    /// Operators of two operands.
    BinOp {
        Add = "add",
        Sub = "sub",
        Mul = "mul",
        Div = "div",
        And = "and",
        Or = "or",
        Xor = "xor",
        Shl = "shl",
        Sra = "sra",
        Srl = "srl",
        ListConcat = "listconcat",
        ListSplat = "listsplat",
        ListRemove = "listremove",
        /// `list[index]`
        ListElement = "",
        /// `list[indices]`
        ListSlice = "",
        /// `first...last`
        ClosedRange = "",
        StrConcat = "strconcat",
        Interleave = "interleave",
        Concat = "con",
        Match = "match",
        Eq = "eq",
        Ne = "ne",
        Le = "le",
        Lt = "lt",
        Ge = "ge",
        Gt = "gt",
        GetDagArg = "getdagarg",
        GetDagName = "getdagname",
        SetDagOp = "setdagop",
        SetDagOpName = "setdagopname",
    }
}

operators! {
    /// Operators of three operands.
    TernOp {
        Subst = "subst",
        Foreach = "foreach",
        Filter = "filter",
        Sort = "sort",
        If = "if",
        Dag = "dag",
        Range = "range",
        Substr = "substr",
        Find = "find",
        SetDagArg = "setdagarg",
        SetDagName = "setdagname",
    }
}

impl TernOp {
    /// Whether it gives a name, its first operand, to the elements of its second in its third.
    pub(crate) fn binds(self) -> bool {
        matches!(self, TernOp::Foreach | TernOp::Filter | TernOp::Sort)
    }
}

impl BinOp {
    /// Whether more than two operands may be given, meaning `a op (b op (c …))`.
    pub(crate) fn is_associative(self) -> bool {
        matches!(self, BinOp::StrConcat | BinOp::ListConcat | BinOp::Concat | BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Mul)
    }

    /// Whether operands are integers.
    pub(crate) fn is_arithmetic(self) -> bool {
        matches!(
            self,
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Sra | BinOp::Srl
        )
    }
}
