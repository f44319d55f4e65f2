//! Tables of one number per word and topic, in blocks of eight topics.

/// The number of topics in a block, which is the number of `f32` in a 256-bit register.
pub(super) const LANES: usize = 8;

/// Eight neighboring topics.
pub(super) type Block = [f32; LANES];

/// One number per word and topic. The numbers of a word are contiguous, and padded with zeros to whole blocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    topics: usize,
    blocks: usize,
    values: Vec<Block>,
}

impl Table {
    pub(super) fn zeros(words: usize, topics: usize) -> Self {
        let blocks = topics.div_ceil(LANES);
        Self { topics, blocks, values: vec![[0.0; LANES]; words * blocks] }
    }

    pub(super) fn topics(&self) -> usize {
        self.topics
    }

    pub(super) fn words(&self) -> usize {
        self.values.len() / self.blocks
    }

    /// Returns the number of blocks per word.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns the blocks of all words.
    pub(super) fn values_mut(&mut self) -> &mut [Block] {
        &mut self.values
    }

    /// Returns the blocks of a word.
    #[inline(always)]
    pub(super) fn row(&self, word: usize) -> &[Block] {
        &self.values[word * self.blocks..(word + 1) * self.blocks]
    }

    pub(super) fn get(&self, word: usize, topic: usize) -> f32 {
        self.values[word * self.blocks + topic / LANES][topic % LANES]
    }

    pub(super) fn set(&mut self, word: usize, topic: usize, value: f32) {
        self.values[word * self.blocks + topic / LANES][topic % LANES] = value;
    }

    pub(super) fn fill(&mut self, value: impl Fn(usize, usize) -> f32) {
        for word in 0..self.words() {
            for topic in 0..self.topics {
                self.set(word, topic, value(word, topic));
            }
        }
    }
}

/// Returns numbers in blocks, padded with zeros.
pub(super) fn in_blocks(numbers: &[f64]) -> Vec<Block> {
    let block = |part: &[f64]| std::array::from_fn(|lane| part.get(lane).map_or(0.0, |number| *number as f32));
    numbers.chunks(LANES).map(block).collect()
}

/// Adds `value` to one topic. The whole block is written, because a vector load of a block after a scalar store to it
/// waits until the store has left the store buffer.
#[inline(always)]
pub(super) fn add_at(blocks: &mut [Block], topic: usize, value: f32) {
    let (block, lane) = (&mut blocks[topic / LANES], topic % LANES);
    for (number, element) in block.iter_mut().enumerate() {
        *element += if number == lane { value } else { 0.0 };
    }
}

/// Sets one topic, with one store of the whole block as [`add_at`].
#[inline(always)]
pub(super) fn set_at(blocks: &mut [Block], topic: usize, value: f32) {
    let (block, lane) = (&mut blocks[topic / LANES], topic % LANES);
    for (number, element) in block.iter_mut().enumerate() {
        *element = if number == lane { value } else { *element };
    }
}
