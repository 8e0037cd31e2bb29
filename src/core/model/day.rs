//! The day on which something was measured.

use borsh::io::{Error, ErrorKind, Read, Result as IoResult, Write};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::str::FromStr;
use time::{Date, Duration, Month};

/// A calendar day in UTC, written as `2026-11-23`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(Date);

/// The error for a text that is not a [`Day`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a day as 2026-11-23")]
pub struct NotADay;

impl Day {
    /// The last day that can be written.
    pub const LAST: Self = Self(Date::MAX);

    /// The day of a time in milliseconds since 1970; `None` after the year 9999.
    pub fn of_unix_ms(unix_ms: u64) -> Option<Self> {
        let days = i64::try_from(unix_ms / 86_400_000).ok()?;
        let first = Date::from_calendar_date(1970, Month::January, 1).ok()?;
        first.checked_add(Duration::days(days)).map(Self)
    }
}

impl FromStr for Day {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        let day = || {
            let mut parts = text.split('-');
            let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
            let is_written_so =
                [year.len(), month.len(), day.len()] == [4, 2, 2] && parts.next().is_none();
            let month: u8 = month.parse().ok()?;
            let month = Month::try_from(month).ok()?;
            let date = Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?);
            date.ok().filter(|_| is_written_so).map(Self)
        };
        day().ok_or(NotADay)
    }
}

impl Display for Day {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self(date) = self;
        let (year, month, day) = date.to_calendar_date();
        write!(f, "{year:04}-{:02}-{day:02}", u8::from(month))
    }
}

impl TryFrom<String> for Day {
    type Error = NotADay;

    fn try_from(text: String) -> Result<Self, NotADay> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

impl BorshSerialize for Day {
    fn serialize<W: Write>(&self, writer: &mut W) -> IoResult<()> {
        BorshSerialize::serialize(&self.0.to_julian_day(), writer)
    }
}

impl BorshDeserialize for Day {
    fn deserialize_reader<R: Read>(reader: &mut R) -> IoResult<Self> {
        let julian_day = i32::deserialize_reader(reader)?;
        let date = Date::from_julian_day(julian_day);
        date.map(Self)
            .map_err(|_| Error::new(ErrorKind::InvalidData, "not a day of the calendar"))
    }
}
