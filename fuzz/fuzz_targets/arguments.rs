//! Arguments of the program `sgmcmc`, separated by NUL. They are only parsed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = sgmcmc_cli::parse(std::iter::once("sgmcmc").chain(text.split('\0')));
});
