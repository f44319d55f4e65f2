//! Documents of text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sgmcmc_fuzzing::input;
use sgmcmc_fuzzing::targets::Reader;

fuzz_target!(|data: &[u8]| {
    input::file(Reader::Text, data);
});
