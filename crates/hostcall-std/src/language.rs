//! What C's library knows of languages: there is one, C's, with UTF-8.

use core::ffi::{CStr, c_char};

/// Items of `nl_langinfo`, as musl numbers them (`langinfo.h`).
mod item {
    pub(super) const CODESET: i32 = 14;
    pub(super) const RADIXCHAR: i32 = 0x10000;
    pub(super) const ABDAY_1: i32 = 0x20000;
    pub(super) const DAY_1: i32 = 0x20007;
    pub(super) const ABMON_1: i32 = 0x2000e;
    pub(super) const MON_1: i32 = 0x2001a;
    pub(super) const AM_STR: i32 = 0x20026;
    pub(super) const PM_STR: i32 = 0x20027;
    pub(super) const D_T_FMT: i32 = 0x20028;
    pub(super) const D_FMT: i32 = 0x20029;
    pub(super) const T_FMT: i32 = 0x2002a;
    pub(super) const T_FMT_AMPM: i32 = 0x2002b;
    pub(super) const YESEXPR: i32 = 0x50000;
    pub(super) const NOEXPR: i32 = 0x50001;
}

// Matches, not tables: PTX has no statics that refer to others.

fn day(number: i32) -> (&'static CStr, &'static CStr) {
    match number {
        0 => (c"Sun", c"Sunday"),
        1 => (c"Mon", c"Monday"),
        2 => (c"Tue", c"Tuesday"),
        3 => (c"Wed", c"Wednesday"),
        4 => (c"Thu", c"Thursday"),
        5 => (c"Fri", c"Friday"),
        _ => (c"Sat", c"Saturday"),
    }
}

fn month(number: i32) -> (&'static CStr, &'static CStr) {
    match number {
        0 => (c"Jan", c"January"),
        1 => (c"Feb", c"February"),
        2 => (c"Mar", c"March"),
        3 => (c"Apr", c"April"),
        4 => (c"May", c"May"),
        5 => (c"Jun", c"June"),
        6 => (c"Jul", c"July"),
        7 => (c"Aug", c"August"),
        8 => (c"Sep", c"September"),
        9 => (c"Oct", c"October"),
        10 => (c"Nov", c"November"),
        _ => (c"Dec", c"December"),
    }
}

fn text(item: i32) -> &'static CStr {
    match item {
        item::CODESET => c"UTF-8",
        item::RADIXCHAR => c".",
        item::ABDAY_1..item::DAY_1 => day(item - item::ABDAY_1).0,
        item::DAY_1..item::ABMON_1 => day(item - item::DAY_1).1,
        item::ABMON_1..item::MON_1 => month(item - item::ABMON_1).0,
        item::MON_1..item::AM_STR => month(item - item::MON_1).1,
        item::AM_STR => c"AM",
        item::PM_STR => c"PM",
        item::D_T_FMT => c"%a %b %e %T %Y",
        item::D_FMT => c"%m/%d/%y",
        item::T_FMT => c"%H:%M:%S",
        item::T_FMT_AMPM => c"%I:%M:%S %p",
        item::YESEXPR => c"^[yY]",
        item::NOEXPR => c"^[nN]",
        _ => c"",
    }
}

/// A text of the language; an empty one for what there is not.
#[unsafe(no_mangle)]
pub extern "C" fn libc_nl_langinfo(item: i32) -> *const c_char {
    text(item).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_months_and_formats_are_those_of_c() {
        for (item, said) in
            [(14, c"UTF-8"), (0x20000, c"Sun"), (0x2000d, c"Saturday"), (0x2000e, c"Jan"), (0x20025, c"December"), (0x10001, c"")]
        {
            assert_eq!(text(item), said);
        }
        assert_eq!(text(0x20028), c"%a %b %e %T %Y");
    }
}
