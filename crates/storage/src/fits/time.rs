//! The current time as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in UTC, such as `2026-02-28T09:05:00+00:00`.
pub(super) fn now() -> String {
    // A clock before 1970 counts as 1970.
    format(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()))
}

/// Formats a number of seconds since 1970.
fn format(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // The proleptic Gregorian calendar in eras of 400 years that begin on March 1 (Hinnant, chrono-compatible low-level
    // date algorithms).
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + 400 * era + u64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}+00:00", second % 60)
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(format(0), "1970-01-01T00:00:00+00:00");
        assert_eq!(format(951_827_696), "2000-02-29T12:34:56+00:00");
        assert_eq!(format(1_772_269_500), "2026-02-28T09:05:00+00:00");
        assert_eq!(format(4_107_542_399), "2100-02-28T23:59:59+00:00");
    }
}
