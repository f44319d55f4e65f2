//! A pool of capture devices.
//!
//! A capture device makes one recording at a time, and a process can create at most 65,536 devices. Devices are
//! therefore returned to a pool after use. Chains that record at the same time use different devices.

use std::sync::{Mutex, PoisonError};

use burn_tensor::{Device, DeviceConfig, DeviceSettings};

static IDLE: Mutex<Vec<(DeviceSettings, Device)>> = Mutex::new(Vec::new());

/// Runs `call` with a capture device that has the default types of `settings`.
pub(super) fn with_device<T>(settings: DeviceSettings, call: impl FnOnce(&Device) -> T) -> T {
    let pooled = PooledDevice { settings, device: take(settings) };
    call(&pooled.device)
}

/// Takes a device from the pool, or creates one.
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
    // A device can be configured only during a recording. If the configuration fails, the import of the recording
    // detects constants of other types.
    let _ = device.capture_scope(|scope| {
        let _ = device.clone().configure(types);
        scope.complete([], [])
    });
    device
}

/// A device that returns to the pool when dropped.
struct PooledDevice {
    settings: DeviceSettings,
    device: Device,
}

impl Drop for PooledDevice {
    fn drop(&mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((self.settings, self.device.clone()));
    }
}
