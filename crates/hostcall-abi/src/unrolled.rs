//! Loops whose first rounds are written out.

/// Runs a block for `j` from 0 to below a count, the first ten rounds as a straight line.
///
/// A GPU's registers have no index: an array whose index is not known when the program is compiled lies in memory.
/// Where the count is a constant, the rounds that are written out have constant indices, and what they index stays in
/// registers; a compiler that unrolls loops does so by guess.
#[doc(hidden)]
#[macro_export]
macro_rules! unrolled {
    (for $j:ident in 0..$count:expr => $body:block) => {{
        let count: u32 = $count;
        $crate::unrolled!(@rounds count, $j, $body, 0 1 2 3 4 5 6 7 8 9);
        for $j in 10..count $body
    }};
    (@rounds $count:ident, $j:ident, $body:block, $($round:literal)+) => {
        $(if $round < $count {
            let $j: u32 = $round;
            $body
        })+
    };
}
