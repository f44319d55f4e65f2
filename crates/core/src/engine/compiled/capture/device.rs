//! Capture devices, lent out one at a time.
//!
//! A capture device takes one recording at a time, and a process can make 65,536 of them, so they are kept for the next
//! caller. Chains that capture at the same time each get their own.

use std::sync::{Mutex, PoisonError};

use burn_tensor::{Device, DeviceConfig, DeviceSettings};

static IDLE: Mutex<Vec<(DeviceSettings, Device)>> = Mutex::new(Vec::new());

/// Runs `call` with a capture device on which tensors have the same types by default as under `settings`.
pub(super) fn with_device<T>(settings: DeviceSettings, call: impl FnOnce(&Device) -> T) -> T {
    let lent = Lent { settings, device: take(settings) };
    call(&lent.device)
}

fn take(settings: DeviceSettings) -> Device {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(position) = idle.iter().position(|(known, _)| *known == settings) {
        return idle.swap_remove(position).1;
    }
    drop(idle);
    let device = Device::capture();
    let types = DeviceConfig::default()
        .float_dtype(settings.float_dtype)
        .int_dtype(settings.int_dtype)
        .bool_dtype(settings.bool_dtype);
    // A device can be asked only while it records. A new one takes its settings; should it not, constants of other
    // types are found when the recording is read.
    let _ = device.capture_scope(|scope| {
        let _ = device.clone().configure(types);
        scope.complete([], [])
    });
    device
}

struct Lent {
    settings: DeviceSettings,
    device: Device,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((self.settings, self.device.clone()));
    }
}
