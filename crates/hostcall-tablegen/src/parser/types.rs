//! Types and classes as they are named in text.

use super::Parser;
use crate::context::Attempt;
use crate::diagnostic::Diagnostic;
use crate::record::RecId;
use crate::symbol::Symbol;
use crate::token::Tok;
use crate::ty::Ty;

/// More bits than any value can sensibly have.
const WIDEST: i64 = 1 << 16;

impl Parser {
    pub(super) fn parse_class_name(&mut self) -> Attempt<RecId> {
        let (name, span) = self.expect_identifier("the name of a class")?;
        match self.cx.classes.get(&name) {
            Some(&class) => Ok(class),
            None => {
                let mut diagnostic = Diagnostic::error(span, format!("there is no class '{}'", self.cx.symbols.shown(name)));
                if self.multiclass_names.contains_key(&name) {
                    diagnostic = diagnostic.with_note("it is a multiclass: those are used with 'defm'");
                }
                Err(self.cx.report(diagnostic))
            }
        }
    }

    pub(super) fn parse_type(&mut self) -> Attempt<Ty> {
        let ty = match self.tok.kind {
            Tok::StringType | Tok::Code => Ty::STRING,
            Tok::Bit => Ty::BIT,
            Tok::IntType => Ty::INT,
            Tok::Dag => Ty::DAG,
            Tok::Identifier => {
                if let Some(&ty) = self.aliases.get(&self.tok.symbol) {
                    self.advance();
                    return Ok(ty);
                }
                let class = self.parse_class_name()?;
                return Ok(self.cx.record_type(&[class]));
            }
            Tok::Bits => {
                self.advance();
                self.expect(Tok::Less, "after 'bits'")?;
                let (width, span) = (self.tok.int, self.tok.span);
                self.expect(Tok::Int, "in 'bits<…>'")?;
                if !(0..=WIDEST).contains(&width) {
                    return Err(self.cx.error(span, format!("bits<{width}> is not between 0 and {WIDEST} bits wide")));
                }
                self.expect(Tok::Greater, "at the end of 'bits<…>'")?;
                return Ok(self.cx.types.bits(width as u32));
            }
            Tok::List => {
                self.advance();
                let open = self.expect(Tok::Less, "after 'list'")?;
                self.descend()?;
                let element = self.parse_type()?;
                self.ascend();
                self.expect_close(Tok::Greater, open, "the list type")?;
                if self.cx.types.depth(element) >= self.cx.options.limits.expression {
                    return Err(self.cx.over_limit("type is nested too deeply", self.cx.options.limits.expression));
                }
                return Ok(self.cx.types.list(element));
            }
            _ => return Err(self.unexpected("a type")),
        };
        self.advance();
        Ok(ty)
    }

    /// `<type>` after an operator.
    pub(super) fn parse_operator_type(&mut self) -> Attempt<Ty> {
        let open = self.expect(Tok::Less, "and a type after the operator")?;
        if self.at(Tok::Code) {
            self.cx.error(self.tok.span, "operators know no type 'code'; use 'string'");
        }
        let ty = self.parse_type()?;
        self.expect_close(Tok::Greater, open, "the operator's type")?;
        Ok(ty)
    }

    /// The type of a value of `bits` literals and others alike; none for `?`.
    pub(super) fn type_name_taken(&self, name: Symbol) -> bool {
        self.aliases.contains_key(&name) || self.cx.classes.contains_key(&name)
    }
}
