//! The calendar. A device knows no time zone: local time is UTC.

use core::ffi::c_char;

/// C's broken-down time, as musl has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs, reason = "names and meanings are C's")]
pub struct Tm {
    pub tm_sec: i32,
    pub tm_min: i32,
    pub tm_hour: i32,
    pub tm_mday: i32,
    pub tm_mon: i32,
    pub tm_year: i32,
    pub tm_wday: i32,
    pub tm_yday: i32,
    pub tm_isdst: i32,
    pub tm_gmtoff: i64,
    pub tm_zone: *const c_char,
}

const DAY: i64 = 86_400;

/// Days from 1 March of the year 0 to 1 January 1970.
const EPOCH: i64 = 719_468;

/// The time so many seconds after 1970; `None` for a year that C's type does not hold.
///
/// The days are counted in eras of 400 years that begin in March, so that a leap day is the last of its year (H.
/// Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn broken_down(seconds: i64) -> Option<Tm> {
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let shifted = days.checked_add(EPOCH)?;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = (month + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month as usize] + i64::from(is_leap && month > 1);
    Some(Tm {
        tm_sec: (second % 60) as i32,
        tm_min: (second / 60 % 60) as i32,
        tm_hour: (second / 3600) as i32,
        tm_mday: day as i32,
        tm_mon: month as i32,
        tm_year: i32::try_from(year - 1900).ok()?,
        tm_wday: (days + 4).rem_euclid(7) as i32,
        tm_yday: (before + day - 1) as i32,
        tm_isdst: 0,
        tm_gmtoff: 0,
        tm_zone: c"UTC".as_ptr(),
    })
}

/// The time so many seconds after 1970; null, if C's type does not hold its year.
///
/// # Safety
/// `seconds` is valid, and `into` valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_gmtime_r(seconds: *const i64, into: *mut Tm) -> *mut Tm {
    // SAFETY: the caller's.
    let Some(time) = broken_down(unsafe { *seconds }) else { return core::ptr::null_mut() };
    // SAFETY: the caller's.
    unsafe { into.write(time) };
    into
}

/// As [`libc_gmtime_r`].
///
/// # Safety
/// As [`libc_gmtime_r`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_localtime_r(seconds: *const i64, into: *mut Tm) -> *mut Tm {
    // SAFETY: the caller's.
    unsafe { libc_gmtime_r(seconds, into) }
}

/// There is one time zone.
#[unsafe(no_mangle)]
pub extern "C" fn libc_tzset() {}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(seconds: i64) -> [i32; 8] {
        let Tm { tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, .. } = broken_down(seconds).expect("it has a year");
        [tm_year, tm_mon, tm_mday, tm_hour, tm_min, tm_sec, tm_wday, tm_yday]
    }

    #[test]
    fn known_times_come_out() {
        assert_eq!(parts(0), [70, 0, 1, 0, 0, 0, 4, 0]);
        assert_eq!(parts(951_782_399), [100, 1, 28, 23, 59, 59, 1, 58]);
        assert_eq!(parts(951_782_400), [100, 1, 29, 0, 0, 0, 2, 59]);
        assert_eq!(parts(951_868_800), [100, 2, 1, 0, 0, 0, 3, 60]);
        assert_eq!(parts(1_735_689_599), [124, 11, 31, 23, 59, 59, 2, 365]);
        assert_eq!(parts(-1), [69, 11, 31, 23, 59, 59, 3, 364]);
        assert_eq!(parts(-2_203_891_200), [0, 2, 1, 0, 0, 0, 4, 59]);
    }

    #[test]
    fn a_year_that_c_does_not_hold_is_none() {
        assert_eq!(broken_down(i64::MAX), None);
        assert_eq!(broken_down(i64::MIN), None);
    }
}
