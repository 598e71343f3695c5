//! Indices of lists and ranges of bits.

use super::{Mode, Parser};
use crate::context::Attempt;
use crate::node::{Kind, Node};
use crate::ops::BinOp;
use crate::record::RecId;
use crate::source::Span;
use crate::token::Tok;
use crate::ty::Ty;

impl Parser {
    /// What stands in `list[…]`: one number, or a list of numbers.
    pub(super) fn parse_indices(&mut self, record: Option<RecId>) -> Attempt<Node> {
        let mut parts: Vec<Node> = Vec::new();
        let mut numbers: Vec<Node> = Vec::new();
        let mut single = true;
        loop {
            let span = self.tok.span;
            let index = self.parse_index(record)?;
            let ty = self.cx.ty(index);
            if ty == Ty::INT {
                numbers.push(index);
            } else if self.cx.types.element(ty) == Some(Ty::INT) {
                single = false;
                if !numbers.is_empty() {
                    parts.push(self.cx.list(Ty::INT, &numbers));
                    numbers.clear();
                }
                parts.push(index);
            } else {
                let message =
                    format!("an index is an int or a list of them, not {} of type '{}'", self.cx.text(index), self.cx.type_text(ty));
                return Err(self.cx.error(span, message));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
            // `[i,]` is a list of one.
            single = false;
            if self.at(Tok::RightSquare) {
                break;
            }
        }
        if single && numbers.len() == 1 {
            return Ok(numbers[0]);
        }
        if !numbers.is_empty() {
            parts.push(self.cx.list(Ty::INT, &numbers));
        }
        let ty = self.cx.types.list(Ty::INT);
        let mut all = parts[0];
        for &part in &parts[1..] {
            all = match self.cx.concat_lists(all, part) {
                Some(list) => list,
                None => self.cx.bin(BinOp::ListConcat, all, part, ty),
            };
        }
        Ok(all)
    }

    /// `i`, `i...j`, `i-j`
    fn parse_index(&mut self, record: Option<RecId>) -> Attempt<Node> {
        let start = self.tok.span;
        let first = self.parse_value(record, None, Mode::Value)?;
        let last = match self.tok.kind {
            Tok::Ellipsis | Tok::Minus => {
                self.advance();
                let span = self.tok.span;
                let last = self.parse_value(record, None, Mode::Value)?;
                self.require_int(last, span)?;
                last
            }
            // `1-3` is read as the numbers 1 and -3.
            Tok::Int => {
                let last = self.negated_end()?;
                self.cx.int(last)
            }
            _ => return Ok(first),
        };
        self.require_int(first, start)?;
        let ty = self.cx.types.list(Ty::INT);
        Ok(self.cx.fold_bin(BinOp::ClosedRange, first, last, ty, record))
    }

    fn require_int(&mut self, value: Node, span: Span) -> Attempt<()> {
        if self.cx.ty(value) == Ty::INT {
            return Ok(());
        }
        let message =
            format!("the end of a range is an int, not {} of type '{}'", self.cx.text(value), self.cx.type_text(self.cx.ty(value)));
        Err(self.cx.error(span, message))
    }

    /// The end of a range that was read as a negative number.
    fn negated_end(&mut self) -> Attempt<i64> {
        let span = self.tok.span;
        let end = self.tok.int.checked_neg().filter(|&end| end >= 0);
        self.advance();
        end.ok_or_else(|| self.cx.error(span, "a range cannot go below 0"))
    }

    /// `piece, piece, …` of numbers that are known now.
    pub(super) fn parse_ranges(&mut self) -> Attempt<Vec<u32>> {
        let mut numbers = Vec::new();
        loop {
            self.parse_range(None, &mut numbers)?;
            if !self.eat(Tok::Comma) {
                return Ok(numbers);
            }
        }
    }

    /// `n`, `n...m`, `n-m`; the first number may have been read already.
    pub(super) fn parse_range(&mut self, first: Option<(Node, Span)>, numbers: &mut Vec<u32>) -> Attempt<()> {
        let (first, span) = match first {
            Some(first) => first,
            None => {
                let span = self.tok.span;
                (self.parse_value(None, None, Mode::Value)?, span)
            }
        };
        let start = self.known_number(first, span)?;
        let mut end_span = span;
        let end = match self.tok.kind {
            Tok::Ellipsis | Tok::Minus => {
                self.advance();
                end_span = self.tok.span;
                let end = self.parse_value(None, None, Mode::Value)?;
                self.known_number(end, end_span)?
            }
            Tok::Int => self.negated_end()?,
            _ => start,
        };
        for (number, span) in [(start, span), (end, end_span)] {
            if u32::try_from(number).is_err() {
                let message = format!("{number} is too large: numbers in ranges are at most {}", u32::MAX);
                return Err(self.cx.error(span, message));
            }
        }
        let too_long = start.abs_diff(end) as usize >= self.cx.options.limits.list;
        let (Ok(start), Ok(end), false) = (u32::try_from(start), u32::try_from(end), too_long) else {
            return Err(self.cx.error(span, format!("the range from {start} to {end} is too long")));
        };
        if start <= end {
            numbers.extend(start..=end);
        } else {
            numbers.extend((end..=start).rev());
        }
        if numbers.len() > self.cx.options.limits.list {
            return Err(self.cx.over_limit("too many numbers in a range", self.cx.options.limits.list));
        }
        Ok(())
    }

    fn known_number(&mut self, value: Node, span: Span) -> Attempt<i64> {
        match self.cx.kind(value) {
            Kind::Int(number) if number >= 0 => Ok(number),
            Kind::Int(_) => Err(self.cx.error(span, "a range cannot go below 0")),
            _ => {
                let message = format!("expected a number or a range of numbers, found {}", self.cx.text(value));
                Err(self.cx.error(span, message))
            }
        }
    }

    /// `<ranges>` or `{ranges}` after the name in a `let`; empty without.
    pub(super) fn parse_optional_ranges(&mut self, open: Tok, close: Tok) -> Attempt<Vec<u32>> {
        let span = self.tok.span;
        if !self.eat(open) {
            return Ok(Vec::new());
        }
        let mut ranges = self.parse_ranges()?;
        self.expect_close(close, span, "the bits")?;
        ranges.reverse();
        Ok(ranges)
    }
}
