//! Arguments of classes and multiclasses: `<1, "two", three = 3>`.

use super::{Mode, Parser};
use crate::context::Attempt;
use crate::diagnostic::Diagnostic;
use crate::node::{Kind, Node};
use crate::record::RecId;
use crate::source::Span;
use crate::token::Tok;
use crate::ty::Ty;

pub(super) struct Argument {
    /// Its position (an int), or its qualified name.
    pub(super) key: Node,
    pub(super) value: Node,
    span: Span,
}

impl Parser {
    fn argument_type(&self, record: RecId, name: Node) -> Ty {
        self.cx.records[record].field(name).map_or(Ty::NONE, |field| field.ty)
    }

    /// The arguments between `<` and `>`, each of its argument's type.
    pub(super) fn parse_arguments(&mut self, record: Option<RecId>, of: RecId) -> Attempt<Vec<Argument>> {
        let mut args = self.parse_unconverted_arguments(record, of)?;
        self.convert_arguments(of, &mut args)?;
        Ok(args)
    }

    /// The arguments between `<` and `>`, checked and left as they are: LLVM does not convert those of a multiclass's
    /// parents, so that an argument `bits<4> b` that a parent is given as `-1` equals `-1` there, and not 15. It does
    /// not check them either, and crashes where bits of another width are given, or fails far from here. Only records
    /// and dags may be of any type: LLVM's own targets use that.
    pub(super) fn parse_parent_arguments(&mut self, record: Option<RecId>, of: RecId) -> Attempt<Vec<Argument>> {
        let args = self.parse_unconverted_arguments(record, of)?;
        for arg in &args {
            let wanted = self.argument_type(of, self.argument_name(of, arg.key));
            if !self.may_be_any(wanted) && !self.may_be_any(self.cx.ty(arg.value)) {
                self.converted(of, arg)?;
            }
        }
        Ok(args)
    }

    /// Whether values of a type are records or dags, or lists of them.
    fn may_be_any(&self, mut ty: Ty) -> bool {
        while let Some(element) = self.cx.types.element(ty) {
            ty = element;
        }
        ty == Ty::DAG || self.cx.types.classes(ty).is_some()
    }

    fn parse_unconverted_arguments(&mut self, record: Option<RecId>, of: RecId) -> Attempt<Vec<Argument>> {
        let open = self.expect(Tok::Less, "before the arguments")?;
        let mut args: Vec<Argument> = Vec::new();
        if self.eat(Tok::Greater) {
            return Ok(args);
        }
        let mut named = false;
        loop {
            let span = self.tok.span;
            let position = args.len();
            let Some(&name) = self.cx.records[of].template_args.get(position) else {
                let message = format!("too many arguments: '{}' takes {position}", self.cx.record_name(of));
                let declared = self.cx.records[of].span();
                return Err(self.cx.report(Diagnostic::error(span, message).with_label(declared, "declared here")));
            };
            let want = (!named).then(|| self.argument_type(of, name));
            let value = self.parse_value(record, want, Mode::Value)?;
            if self.at(Tok::Equal) {
                named = true;
                args.push(self.parse_named_argument(record, of, value, span)?);
            } else if named {
                return Err(self.cx.error(span, "arguments without a name come before those with one"));
            } else {
                let key = self.cx.int(position as i64);
                args.push(Argument { key, value, span });
            }
            if self.at(Tok::Greater) {
                self.advance();
                break;
            }
            if !self.at(Tok::Comma) {
                self.expect_close(Tok::Greater, open, "the arguments")?;
            }
            self.advance();
        }
        Ok(args)
    }

    fn parse_named_argument(&mut self, record: Option<RecId>, of: RecId, name: Node, span: Span) -> Attempt<Argument> {
        if !matches!(self.cx.kind(name), Kind::Str(_)) {
            return Err(self.cx.error(span, "the name of an argument is an identifier"));
        }
        let qualified = self.cx.qualified(of, name);
        if self.cx.records[of].field(qualified).is_none() {
            let message = format!("'{}' has no argument {}", self.cx.record_name(of), self.cx.text(name));
            let declared = self.cx.records[of].span();
            return Err(self.cx.report(Diagnostic::error(span, message).with_label(declared, "declared here")));
        }
        self.advance();
        let span = self.tok.span;
        let ty = self.argument_type(of, qualified);
        let value = self.parse_value(record, Some(ty), Mode::Value)?;
        if value == Node::UNSET {
            return Err(self.cx.error(span, "an argument that is named needs a value other than '?'"));
        }
        Ok(Argument { key: qualified, value, span })
    }

    /// The name of the template argument that an argument is for.
    fn argument_name(&self, of: RecId, key: Node) -> Node {
        match self.cx.kind(key) {
            Kind::Int(position) => self.cx.records[of].template_args[position as usize],
            _ => key,
        }
    }

    fn convert_arguments(&mut self, of: RecId, args: &mut [Argument]) -> Attempt<()> {
        let mut result = Ok(());
        for arg in args {
            match self.converted(of, arg) {
                Ok(value) => arg.value = value,
                Err(reported) => result = Err(reported),
            }
        }
        result
    }

    /// The value of an argument as one of its type.
    fn converted(&mut self, of: RecId, arg: &Argument) -> Attempt<Node> {
        let name = self.argument_name(of, arg.key);
        let ty = self.argument_type(of, name);
        if let Some(value) = self.cx.cast_to(arg.value, ty) {
            return Ok(value);
        }
        let message = format!(
            "argument '{}' is of type '{}', but {} is of type '{}'",
            self.cx.unquoted(name),
            self.cx.type_text(ty),
            self.cx.text(arg.value),
            self.cx.type_text(self.cx.ty(arg.value))
        );
        Err(self.cx.error(arg.span, message))
    }

    /// The value of each template argument: the one given, or its default.
    pub(super) fn bind_arguments(&mut self, of: RecId, args: &[Argument], span: Span) -> Attempt<Vec<(Node, Node)>> {
        let mut open = self.cx.records[of].template_args.clone();
        let mut bound = Vec::with_capacity(open.len());
        for arg in args {
            let name = self.argument_name(of, arg.key);
            let Some(at) = open.iter().position(|&other| other == name) else {
                let message = format!("argument '{}' is given twice", self.cx.unquoted(name));
                return Err(self.cx.error(arg.span, message));
            };
            open.remove(at);
            bound.push((name, arg.value));
        }
        for name in open {
            let Some(&field) = self.cx.records[of].field(name) else { continue };
            if !self.cx.is_complete(field.value) {
                let message = format!("argument '{}' has no value", self.cx.unquoted(name));
                let diagnostic = Diagnostic::error(span, message).with_label(field.span, "declared here without a default");
                return Err(self.cx.report(diagnostic));
            }
            bound.push((name, field.value));
        }
        Ok(bound)
    }
}
