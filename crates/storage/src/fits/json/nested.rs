//! Nested arrays of numbers, flattened during deserialization.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// An array of any rank in row-major order.
#[derive(Debug, Default)]
pub(super) struct Nested {
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<f64>,
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut state = State::default();
        Level { state: &mut state, depth: 0 }.deserialize(deserializer)?;
        if state.rank.is_some_and(|rank| rank != state.sizes.len()) {
            return Err(D::Error::custom("numbers and lists side by side in place of an array"));
        }
        let shape = state.sizes.iter().map(|size| size.unwrap_or(0)).collect();
        Ok(Self { shape, data: state.data })
    }
}

#[derive(Default)]
struct State {
    data: Vec<f64>,
    sizes: Vec<Option<usize>>,
    rank: Option<usize>,
}

/// A deserializer of the content at depth `depth`.
struct Level<'a> {
    state: &'a mut State,
    depth: usize,
}

impl Level<'_> {
    fn number<E: Error>(self, number: f64) -> Result<(), E> {
        if *self.state.rank.get_or_insert(self.depth) != self.depth {
            return Err(E::custom("numbers and lists side by side in place of an array"));
        }
        self.state.data.push(number);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers in nested lists")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.number(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.number(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.number(number as f64)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.number(f64::from(value))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.number(f64::NAN)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match text {
            "NaN" => self.number(f64::NAN),
            "Infinity" => self.number(f64::INFINITY),
            "-Infinity" => self.number(f64::NEG_INFINITY),
            _ => Err(E::custom(format!("the text {text:?} in place of a number"))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { state, depth } = self;
        if state.sizes.len() <= depth {
            state.sizes.push(None);
        }
        let mut size = 0;
        while list.next_element_seed(Level { state: &mut *state, depth: depth + 1 })?.is_some() {
            size += 1;
        }
        let expected = *state.sizes[depth].get_or_insert(size);
        if expected != size || state.rank.is_some_and(|rank| rank <= depth) {
            return Err(A::Error::custom(format!(
                "a list of {size} elements where others of its rank have {expected}"
            )));
        }
        Ok(())
    }
}

/// A map that keeps the order of the file.
#[derive(Debug)]
pub(super) struct Ordered<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(std::marker::PhantomData))
    }
}

/// Returns the text with Python's `NaN`, `Infinity` and `-Infinity` in quotes, because JSON does not have these words.
pub(super) fn quote_non_finite(text: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len());
    let (mut inside, mut position) = (false, 0);
    while position < text.len() {
        let rest = &text[position..];
        let word = [&b"NaN"[..], b"Infinity", b"-Infinity"].into_iter().find(|word| !inside && rest.starts_with(word));
        if let Some(word) = word {
            quoted.push(b'"');
            quoted.extend_from_slice(word);
            quoted.push(b'"');
            position += word.len();
            continue;
        }
        if inside && rest[0] == b'\\' {
            quoted.extend_from_slice(&rest[..rest.len().min(2)]);
            position += 2;
            continue;
        }
        inside ^= rest[0] == b'"';
        quoted.push(rest[0]);
        position += 1;
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_inside_strings_stay() {
        let text = br#"{"NaN \" NaN": [NaN, -Infinity, 1]}"#;
        assert_eq!(quote_non_finite(text), br#"{"NaN \" NaN": ["NaN", "-Infinity", 1]}"#);
    }

    #[test]
    fn ragged_lists_are_refused() {
        let read = |text: &str| serde_json::from_str::<Nested>(text);
        let whole = read("[[[1,2],[3,4],[5,6]]]").unwrap();
        assert_eq!((whole.shape, whole.data), (vec![1, 3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        for ragged in ["[[1,2],[3]]", "[1,[2]]", "[[2],1]", "[[],1]", "[1,[]]", "[{}]", "[\"x\"]"] {
            assert!(read(ragged).is_err(), "{ragged}");
        }
    }
}
