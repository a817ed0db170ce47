//! A table in JSON: a list of values if it has one column, a list of rows if it has several.
//!
//! It is read straight into one array, because a list of a million small lists would take ten times the memory of the
//! line.

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, SeqAccess, Unexpected, Visitor,
};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A table as it was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Columns<T> {
    pub(super) width: usize,
    pub(super) rows: usize,
    pub(super) values: Vec<T>,
}

impl<T> Columns<T> {
    /// A table without rows.
    pub(super) fn empty(width: usize) -> Self {
        Columns { width, rows: 0, values: Vec::new() }
    }

    /// Row i.
    pub(super) fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// Ends a row that began when there were `start` values.
    pub(super) fn end_row<E: Error>(&mut self, start: usize) -> Result<(), E> {
        let width = self.values.len() - start;
        if self.rows > 0 && width != self.width {
            let (rows, first) = (self.rows, self.width);
            return Err(E::custom(format!(
                "row {rows} of a table has {width} values, the first has {first}"
            )));
        }
        self.width = width;
        self.rows += 1;
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Columns<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Table<T> {
            type Value = Columns<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a table must be a list of values, or of rows of values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Columns<T>, A::Error> {
                let mut columns = Columns::empty(0);
                while list.next_element_seed(Row(&mut columns))?.is_some() {}
                Ok(columns)
            }
        }
        deserializer.deserialize_seq(Table(PhantomData))
    }
}

/// Reads a row into a table: a list, or one value by itself.
struct Row<'a, T>(&'a mut Columns<T>);

impl<'de, T: Deserialize<'de>> Row<'_, T> {
    fn value<E: Error>(self, value: impl IntoDeserializer<'de, E>) -> Result<(), E> {
        let start = self.0.values.len();
        self.0.values.push(T::deserialize(value.into_deserializer())?);
        self.0.end_row(start)
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Row<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Row<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an entry of a table must be a number or a row of numbers")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.value(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.value(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.value(value)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        let start = self.0.values.len();
        // Only some tables may have gaps.
        let value = T::deserialize(IntoDeserializer::<E>::into_deserializer(()));
        let entry = &"an entry of a table must be a number or a row of numbers";
        self.0.values.push(value.map_err(|_| E::invalid_type(Unexpected::Unit, entry))?);
        self.0.end_row(start)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<(), A::Error> {
        let start = self.0.values.len();
        while let Some(value) = row.next_element()? {
            self.0.values.push(value);
        }
        self.0.end_row(start)
    }
}

/// A table to be written: its width, and a function that goes over its rows.
pub(super) struct Rows<F>(pub(super) usize, pub(super) F);

impl<'a, T, I, F> Serialize for Rows<F>
where
    T: Serialize + 'a,
    I: Iterator<Item = &'a [T]>,
    F: Fn() -> I,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            1 => serializer.collect_seq(self.1().map(|row| &row[0])),
            _ => serializer.collect_seq(self.1()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(text: &str) -> Result<Columns<i64>, String> {
        serde_json::from_str(text).map_err(|e| super::super::explain(&e, text.as_bytes()))
    }

    #[test]
    fn lists_and_rows() {
        let columns = |width, rows, values: &[i64]| Ok(Columns { width, rows, values: values.to_vec() });
        assert_eq!(integers("[]"), columns(0, 0, &[]));
        assert_eq!(
            integers("[9223372036854775807,-9223372036854775808]"),
            columns(1, 2, &[i64::MAX, i64::MIN])
        );
        assert_eq!(integers("[[1,2],[3,4],[5,6]]"), columns(2, 3, &[1, 2, 3, 4, 5, 6]));
        assert_eq!(integers("[[1],2]"), columns(1, 2, &[1, 2]));
        assert_eq!(integers("[[],[]]"), columns(0, 2, &[]));
        let reals: Columns<f64> = serde_json::from_str("[1,-0,2.5e-324,[1e3]]").unwrap();
        assert_eq!(reals.values.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), {
            [1.0, -0.0, 2.5e-324, 1000.0].map(f64::to_bits)
        });
    }

    #[test]
    fn what_is_not_a_table() {
        let wrong = |text| integers(text).unwrap_err();
        assert_eq!(wrong("[[1,2],[3]]"), "row 1 of a table has 1 values, the first has 2 (column 10)");
        assert_eq!(wrong("[1,2.5]"), "it must be an integer, not 2.5 (column 6)");
        assert_eq!(
            wrong("[9223372036854775808]"),
            "it must be an integer, not 9223372036854775808 (column 20)"
        );
        let null = "an entry of a table must be a number or a row of numbers, not null";
        assert!(wrong("[null]").starts_with(null));
        assert!(wrong("[[[1]]]").starts_with("it must be an integer, not a list"));
        assert!(wrong("7").starts_with("a table must be a list of values, or of rows of values, not 7"));
        assert!(wrong("[1,").starts_with("the line ends in the middle"));
    }
}
