//! Tokens.

use crate::ops::{BinOp, TernOp, UnOp};
use crate::source::Span;
use crate::symbol::Symbol;

/// A bang operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bang {
    Un(UnOp),
    Bin(BinOp),
    Tern(TernOp),
    Cond,
    Switch,
    Exists,
    Foldl,
    Instances,
    IsA,
}

impl Bang {
    /// The operator of that name.
    pub(crate) fn named(name: &str) -> Option<Bang> {
        Some(match name {
            "add" => Bang::Bin(BinOp::Add),
            "and" => Bang::Bin(BinOp::And),
            "cast" => Bang::Un(UnOp::Cast),
            "con" => Bang::Bin(BinOp::Concat),
            "cond" => Bang::Cond,
            "dag" => Bang::Tern(TernOp::Dag),
            "div" => Bang::Bin(BinOp::Div),
            "empty" => Bang::Un(UnOp::Empty),
            "eq" => Bang::Bin(BinOp::Eq),
            "exists" => Bang::Exists,
            "filter" => Bang::Tern(TernOp::Filter),
            "find" => Bang::Tern(TernOp::Find),
            "foldl" => Bang::Foldl,
            "foreach" => Bang::Tern(TernOp::Foreach),
            "ge" => Bang::Bin(BinOp::Ge),
            "getdagarg" => Bang::Bin(BinOp::GetDagArg),
            "getdagname" => Bang::Bin(BinOp::GetDagName),
            "getdagop" => Bang::Un(UnOp::GetDagOp),
            "getdagopname" => Bang::Un(UnOp::GetDagOpName),
            "gt" => Bang::Bin(BinOp::Gt),
            "head" => Bang::Un(UnOp::Head),
            "if" => Bang::Tern(TernOp::If),
            "initialized" => Bang::Un(UnOp::Initialized),
            "instances" => Bang::Instances,
            "interleave" => Bang::Bin(BinOp::Interleave),
            "isa" => Bang::IsA,
            "le" => Bang::Bin(BinOp::Le),
            "listconcat" => Bang::Bin(BinOp::ListConcat),
            "listflatten" => Bang::Un(UnOp::ListFlatten),
            "listremove" => Bang::Bin(BinOp::ListRemove),
            "listsplat" => Bang::Bin(BinOp::ListSplat),
            "logtwo" => Bang::Un(UnOp::Log2),
            "lt" => Bang::Bin(BinOp::Lt),
            "match" => Bang::Bin(BinOp::Match),
            "mul" => Bang::Bin(BinOp::Mul),
            "ne" => Bang::Bin(BinOp::Ne),
            "not" => Bang::Un(UnOp::Not),
            "or" => Bang::Bin(BinOp::Or),
            "range" => Bang::Tern(TernOp::Range),
            "repr" => Bang::Un(UnOp::Repr),
            "setdagarg" => Bang::Tern(TernOp::SetDagArg),
            "setdagname" => Bang::Tern(TernOp::SetDagName),
            "setdagop" => Bang::Bin(BinOp::SetDagOp),
            "setdagopname" => Bang::Bin(BinOp::SetDagOpName),
            "shl" => Bang::Bin(BinOp::Shl),
            "size" => Bang::Un(UnOp::Size),
            "sort" => Bang::Tern(TernOp::Sort),
            "sra" => Bang::Bin(BinOp::Sra),
            "srl" => Bang::Bin(BinOp::Srl),
            "strconcat" => Bang::Bin(BinOp::StrConcat),
            "sub" => Bang::Bin(BinOp::Sub),
            "subst" => Bang::Tern(TernOp::Subst),
            "substr" => Bang::Tern(TernOp::Substr),
            "switch" => Bang::Switch,
            "tail" => Bang::Un(UnOp::Tail),
            "tolower" => Bang::Un(UnOp::ToLower),
            "toupper" => Bang::Un(UnOp::ToUpper),
            "xor" => Bang::Bin(BinOp::Xor),
            _ => return None,
        })
    }
}

macro_rules! tokens {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// What a token is, without its text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Tok {
            $($(#[$doc])* $variant,)*
            Bang(Bang),
        }

        impl Tok {
            /// As it is written, or what it is.
            pub(crate) fn describe(self) -> &'static str {
                match self {
                    $(Tok::$variant => $text,)*
                    Tok::Bang(_) => "bang operator",
                }
            }
        }
    };
}

tokens! {
    Eof = "end of file",
    /// Reported already.
    Error = "unreadable text",
    Identifier = "identifier",
    /// `$name`
    VarName = "'$' name",
    Int = "number",
    /// `0b…`, which is as wide as it has digits.
    BinaryInt = "binary number",
    String = "string",
    CodeBlock = "code block",
    Colon = "':'",
    Semicolon = "';'",
    Comma = "','",
    Dot = "'.'",
    Ellipsis = "'...'",
    Equal = "'='",
    Question = "'?'",
    Paste = "'#'",
    Minus = "'-'",
    Plus = "'+'",
    Less = "'<'",
    Greater = "'>'",
    LeftSquare = "'['",
    RightSquare = "']'",
    LeftBrace = "'{'",
    RightBrace = "'}'",
    LeftParen = "'('",
    RightParen = "')'",
    Assert = "'assert'",
    Bit = "'bit'",
    Bits = "'bits'",
    Class = "'class'",
    Code = "'code'",
    Dag = "'dag'",
    Def = "'def'",
    Defm = "'defm'",
    Defset = "'defset'",
    Deftype = "'deftype'",
    Defvar = "'defvar'",
    Dump = "'dump'",
    Else = "'else'",
    False = "'false'",
    Field = "'field'",
    Foreach = "'foreach'",
    If = "'if'",
    In = "'in'",
    Include = "'include'",
    IntType = "'int'",
    Let = "'let'",
    List = "'list'",
    Multiclass = "'multiclass'",
    StringType = "'string'",
    Then = "'then'",
    True = "'true'",
}

impl Tok {
    /// The keyword of that text.
    pub(crate) fn keyword(text: &str) -> Option<Tok> {
        Some(match text {
            "assert" => Tok::Assert,
            "bit" => Tok::Bit,
            "bits" => Tok::Bits,
            "class" => Tok::Class,
            "code" => Tok::Code,
            "dag" => Tok::Dag,
            "def" => Tok::Def,
            "defm" => Tok::Defm,
            "defset" => Tok::Defset,
            "deftype" => Tok::Deftype,
            "defvar" => Tok::Defvar,
            "dump" => Tok::Dump,
            "else" => Tok::Else,
            "false" => Tok::False,
            "field" => Tok::Field,
            "foreach" => Tok::Foreach,
            "if" => Tok::If,
            "in" => Tok::In,
            "include" => Tok::Include,
            "int" => Tok::IntType,
            "let" => Tok::Let,
            "list" => Tok::List,
            "multiclass" => Tok::Multiclass,
            "string" => Tok::StringType,
            "then" => Tok::Then,
            "true" => Tok::True,
            _ => return None,
        })
    }

    /// Whether a statement may begin with it.
    pub(crate) fn starts_statement(self) -> bool {
        matches!(
            self,
            Tok::Assert
                | Tok::Class
                | Tok::Def
                | Tok::Defm
                | Tok::Defset
                | Tok::Deftype
                | Tok::Defvar
                | Tok::Dump
                | Tok::Foreach
                | Tok::If
                | Tok::Let
                | Tok::Multiclass
        )
    }
}

/// A token with its place and its text or number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Tok,
    pub(crate) span: Span,
    /// Of identifiers, strings, code and `$` names: the text, escapes replaced.
    pub(crate) symbol: Symbol,
    pub(crate) int: i64,
    /// Digits of a binary number.
    pub(crate) width: u32,
}
