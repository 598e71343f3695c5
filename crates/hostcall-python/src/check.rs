//! Values that are none: the types of the wire for which not every bit pattern is a value.
//!
//! NumPy reads what is there. So what Rust's decoding would refuse is refused before Python sees it.

use hostcall_idl::model::Type;

/// What must be so of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks(Vec<Check>);

#[derive(Clone, Debug)]
struct Check {
    unit: usize,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Bool,
    Char,
    /// The unit says which of the two lists goes on behind it.
    Choice([Checks; 2]),
}

impl Checks {
    /// Adds a value that begins at a unit.
    pub(crate) fn add(&mut self, unit: usize, ty: &Type) {
        let of = |ty: &Type| {
            let mut checks = Checks::default();
            checks.add(unit + 1, ty);
            checks
        };
        let what = match ty {
            Type::Unit | Type::Number(_) | Type::Array(..) | Type::Structure(_) => return,
            Type::Tuple(types) => {
                let mut at = unit;
                for ty in types {
                    self.add(at, ty);
                    at += ty.units();
                }
                return;
            }
            Type::Bool => What::Bool,
            Type::Char => What::Char,
            Type::Option(value) => What::Choice([Checks::default(), of(value)]),
            Type::Result(value, error) => What::Choice([of(value), of(error)]),
        };
        self.0.push(Check { unit, what });
    }

    /// Whether there is nothing to check.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first unit of a row that makes it no value.
    pub(crate) fn refused(&self, row: &[u32]) -> Option<u32> {
        self.0.iter().find_map(|check| {
            let &value = row.get(check.unit)?;
            let wrong = match &check.what {
                What::Bool => value > 1,
                What::Char => char::from_u32(value).is_none(),
                What::Choice(lists) => match lists.get(value as usize) {
                    Some(list) => return list.refused(row),
                    None => true,
                },
            };
            wrong.then_some(value)
        })
    }
}
