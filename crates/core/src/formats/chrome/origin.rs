//! Where the clock of a file begins.
//!
//! Unix time in microseconds does not fit 64 bits as picoseconds, so times count from an origin.
//! A file whose clock starts near 0 keeps its own zero. Otherwise the origin is the earliest of the
//! first events, strays left out: some writers give metadata-like events a time of 0.
//!
//! Our own exports record the origin, because they move a recording that begins before its own zero: viewers
//! leave out what lies before 0.

use super::time::PS;

/// The member of the outermost object that holds the origin, in whole microseconds.
pub const TOLD: &str = "stepscopeOriginMicroseconds";

/// Events that decide.
pub const SAMPLE: usize = 1000;
/// Clocks below this keep their zero: a day.
const OWN_ZERO_US: i64 = 86_400_000_000;
/// Farther than this from the middle is a stray: 50 days, about half of what fits.
const STRAY_US: i64 = 50 * OWN_ZERO_US;

/// The origin in microseconds: the recorded one, when the middle of the first times can be counted from there;
/// otherwise from these times.
pub fn choose(first_us: &[i64], told_us: Option<i64>) -> i64 {
    let mut sorted = first_us[..first_us.len().min(SAMPLE)].to_vec();
    sorted.sort_unstable();
    let Some(middle) = sorted.get(sorted.len() / 2).copied() else {
        return told_us.unwrap_or(0);
    };
    if let Some(told_us) = told_us
        && shift_ps(middle, told_us).is_some()
    {
        return told_us;
    }
    if middle.abs() < OWN_ZERO_US {
        return 0;
    }
    let near = |us: &&i64| (i128::from(**us) - i128::from(middle)).abs() <= i128::from(STRAY_US);
    sorted.iter().find(near).copied().unwrap_or(middle)
}

/// Unix time of the origin in nanoseconds. `base_ns` is what the file says its times count from.
/// Without it, times are Unix times when they lie between the years 2001 and 2100.
pub fn unix_ns(origin_us: i64, base_ns: Option<i64>) -> Option<i64> {
    match base_ns {
        Some(base) => origin_us.checked_mul(1000)?.checked_add(base),
        None if (1_000_000_000_000_000..4_102_444_800_000_000).contains(&origin_us) => Some(origin_us * 1000),
        None => None,
    }
}

/// What to add to times from `base_us` to make them count from `origin_us`, in picoseconds.
pub fn shift_ps(base_us: i64, origin_us: i64) -> Option<i64> {
    base_us.checked_sub(origin_us)?.checked_mul(PS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_zero_or_earliest_without_strays() {
        let choose_freely = |first_us: &[i64]| choose(first_us, None);
        assert_eq!(choose_freely(&[]), 0);
        assert_eq!(choose_freely(&[8, 5_000_000]), 0);
        let unix = 1_795_163_227_337_279;
        assert_eq!(choose_freely(&[0, unix + 5, unix, unix + 9]), unix);
        assert_eq!(choose_freely(&[i64::MAX, unix + 5, i64::MIN + 1, unix, unix + 9]), unix);
        assert_eq!(choose_freely(&[4_308_369_275_850]), 4_308_369_275_850);
    }

    #[test]
    fn told_unless_times_cannot_be_counted_from_there() {
        assert_eq!(choose(&[], Some(7)), 7);
        assert_eq!(choose(&[3, 900], Some(7)), 7);
        // Two days from its own zero: without a recorded origin, the first event would be it.
        assert_eq!(choose(&[2 * OWN_ZERO_US, 2 * OWN_ZERO_US + 9], Some(0)), 0);
        assert_eq!(choose(&[3, 900], Some(i64::MAX)), 0);
        assert_eq!(choose(&[3, 900], Some(i64::MIN)), 0);
        let unix = 1_795_163_227_337_279;
        assert_eq!(choose(&[unix, unix + 5], Some(0)), unix);
    }

    #[test]
    fn unix_time_when_told_or_plain() {
        assert_eq!(unix_ns(1_795_163_227_337_279, None), Some(1_795_163_227_337_279_000));
        assert_eq!(unix_ns(8, None), None);
        assert_eq!(unix_ns(10, Some(1_790_857_026_000_000_000)), Some(1_790_857_026_000_010_000));
        assert_eq!(unix_ns(i64::MAX, Some(1)), None);
    }
}
