//! Statements of C that read values from a lane's units, `hc_row`, and write them, as `hostcall_abi::codec::Fixed`
//! does.

use super::c::members;
use super::writer::Writer;
use crate::model::Type;

/// What a function does with units that are no value.
const MALFORMED: &str = "return (hc_malformed(hc_of, hc_lane), HC_MALFORMED);";

/// Reads the value whose first unit is `at` into `to`, which is zero.
pub(super) fn decode(out: &mut Writer, ty: &Type, at: usize, to: &str) {
    match ty {
        Type::Unit => {}
        Type::Number(_) | Type::Array(..) | Type::Structure(_) => out.line(format!("memcpy(&{to}, hc_row + {at}, sizeof({to}));")),
        Type::Bool => {
            out.line(format!("if (hc_row[{at}] > 1) {MALFORMED}"));
            out.line(format!("{to} = hc_row[{at}] != 0;"));
        }
        Type::Char => {
            out.line(format!("if (hc_row[{at}] > 0x10ffff || (hc_row[{at}] >= 0xd800 && hc_row[{at}] <= 0xdfff)) {MALFORMED}"));
            out.line(format!("{to} = hc_row[{at}];"));
        }
        Type::Tuple(_) => {
            let mut at = at;
            for (name, ty) in members(ty) {
                decode(out, ty, at, &format!("{to}.{name}"));
                at += ty.units();
            }
        }
        Type::Option(value) => {
            out.line(format!("if (hc_row[{at}] > 1) {MALFORMED}"));
            out.line(format!("{to}.has = hc_row[{at}] != 0;"));
            if value.units() > 0 {
                out.block(format!("if ({to}.has) {{"), "}", |out| decode(out, value, at + 1, &format!("{to}.value")));
            }
        }
        Type::Result(value, error) => {
            out.line(format!("if (hc_row[{at}] > 1) {MALFORMED}"));
            out.line(format!("{to}.ok = hc_row[{at}] == 0;"));
            for (ty, name, not) in [(value, "value", ""), (error, "error", "!")] {
                if ty.units() > 0 {
                    out.block(format!("if ({not}{to}.ok) {{"), "}", |out| decode(out, ty, at + 1, &format!("{to}.{name}")));
                }
            }
        }
    }
}

/// Writes the value `from` to the units from `at` on, which are zero.
pub(super) fn encode(out: &mut Writer, ty: &Type, at: usize, from: &str) {
    match ty {
        Type::Unit => {}
        Type::Number(_) | Type::Array(..) | Type::Structure(_) => out.line(format!("memcpy(hc_row + {at}, &{from}, sizeof({from}));")),
        Type::Bool => out.line(format!("hc_row[{at}] = {from} ? 1 : 0;")),
        Type::Char => out.line(format!("hc_row[{at}] = {from};")),
        Type::Tuple(_) => {
            let mut at = at;
            for (name, ty) in members(ty) {
                encode(out, ty, at, &format!("{from}.{name}"));
                at += ty.units();
            }
        }
        Type::Option(value) => {
            out.line(format!("hc_row[{at}] = {from}.has ? 1 : 0;"));
            if value.units() > 0 {
                out.block(format!("if ({from}.has) {{"), "}", |out| encode(out, value, at + 1, &format!("{from}.value")));
            }
        }
        Type::Result(value, error) => {
            out.line(format!("hc_row[{at}] = {from}.ok ? 0 : 1;"));
            for (ty, name, not) in [(value, "value", ""), (error, "error", "!")] {
                if ty.units() > 0 {
                    out.block(format!("if ({not}{from}.ok) {{"), "}", |out| encode(out, ty, at + 1, &format!("{from}.{name}")));
                }
            }
        }
    }
}
