use memchr::memmem;

/// Many texts, searched as one: to search each of thousands of lines for each of hundreds of words takes longer.
pub(super) struct Texts {
    /// The texts, each followed by a line end.
    whole: Vec<u8>,
    /// The end of each text in `whole`.
    ends: Vec<usize>,
}

impl Texts {
    /// Copies the texts.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut all = Self { whole: Vec::new(), ends: Vec::new() };
        for text in texts {
            all.whole.extend_from_slice(text);
            all.ends.push(all.whole.len());
            all.whole.push(b'\n');
        }
        all
    }

    /// Numbers of the texts that contain a word, which has no line end, in their order.
    pub(super) fn with(&self, word: &str) -> Vec<usize> {
        let places = memmem::find_iter(&self.whole, word);
        let mut texts: Vec<usize> =
            places.map(|place| self.ends.partition_point(|end| *end < place + word.len())).collect();
        texts.dedup();
        texts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_with_a_word_are_those_that_contain_it(
            texts in prop::collection::vec("[ab\n]{0,6}", 0..6),
            word in "[ab]{1,3}",
        ) {
            let expected: Vec<usize> =
                (0..texts.len()).filter(|number| texts[*number].contains(&word)).collect();
            prop_assert_eq!(Texts::new(texts.iter().map(String::as_bytes)).with(&word), expected);
        }
    }
}
