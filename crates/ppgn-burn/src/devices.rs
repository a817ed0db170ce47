//! The devices of this machine that this build can use.
//!
//! GPUs are numbered in the order in which burn finds them: those of CUDA, of ROCm, then those that wgpu reaches. A device of wgpu
//! may be software that runs on the CPU (lavapipe); it is listed and can be named, but nobody wants it by default.

use crate::meeting::{PADDING, tuples};
use crate::network::{fits, supported};
use crate::trainer::Resident;
use burn::tensor::{DType, Device};
use ppgn_nn::device::{Accelerator, OnDevice};
use ppgn_nn::{Dense, Ppgn, PpgnConfig, Precision, Result};

/// A device, by its name and what it can do.
#[derive(Debug, Clone)]
pub struct Gpu {
    name: String,
    api: &'static str,
    hardware: bool,
    /// The bytes that a tensor may have, where the device has such a limit.
    largest: Option<u64>,
    device: Device,
}

impl Gpu {
    /// burn's plain CPU backend as a device, which every build has: slower than the CPU engine, and there for tests.
    ///
    /// ```
    /// use ppgn_nn::device::Accelerator;
    /// let device = ppgn_burn::Gpu::plain();
    /// assert!(!device.is_hardware() && device.has_f64());
    /// ```
    pub fn plain() -> Self {
        Gpu {
            name: "burn's CPU backend".into(),
            api: "flex",
            hardware: false,
            largest: None,
            device: Device::flex(),
        }
    }

    /// The name of the device itself.
    pub fn device_name(&self) -> &str {
        &self.name
    }

    /// What it is reached by: `wgpu`, `cuda` or `rocm`.
    pub fn api(&self) -> &'static str {
        self.api
    }

    /// Whether it computes in f64.
    pub fn has_f64(&self) -> bool {
        self.device.supports_dtype(DType::F64)
    }

    /// The bytes that a tensor may have, where there is such a limit.
    pub fn largest(&self) -> Option<u64> {
        self.largest
    }

    /// burn's name of it.
    pub fn burn(&self) -> &Device {
        &self.device
    }

    /// The same with a lower limit on the bytes of a tensor.
    pub fn with_largest(mut self, bytes: u64) -> Self {
        self.largest = Some(self.largest.map_or(bytes, |largest| largest.min(bytes)));
        self
    }
}

impl Accelerator for Gpu {
    fn name(&self) -> String {
        format!("{} ({})", self.name, self.api)
    }

    fn is_hardware(&self) -> bool {
        self.hardware
    }

    fn check(&self, config: &PpgnConfig, precision: Precision, nodes: &[usize]) -> Result<()> {
        supported(config, precision, &self.device)?;
        let rows = match nodes {
            [] => 0,
            nodes => tuples(&Dense::of_tuples(config.order, nodes)?, PADDING),
        };
        fits(config, precision, rows, self.largest)
    }

    fn load(&self, network: &Ppgn) -> Result<Box<dyn OnDevice>> {
        Ok(Box::new(Resident::new(network, &self.device, self.largest)?))
    }
}

/// What this build can use: `wgpu`, `cuda`, `rocm`, those that it was built with.
pub fn apis() -> Vec<&'static str> {
    let all = [
        ("cuda", cfg!(feature = "cuda")),
        ("rocm", cfg!(feature = "rocm")),
        ("wgpu", cfg!(feature = "wgpu")),
    ];
    all.iter().filter(|(_, has)| *has).map(|(api, _)| *api).collect()
}

/// The GPUs of this machine that this build can use, in order. Opens every one.
pub fn devices() -> Vec<Gpu> {
    #[allow(unused_mut, reason = "a build without any of the features")]
    let mut found = Vec::new();
    #[cfg(feature = "cuda")]
    found.extend(opened("cuda", Device::enumerate(burn::tensor::DeviceType::Cuda), |_| None));
    #[cfg(feature = "rocm")]
    found.extend(opened("rocm", Device::enumerate(burn::tensor::DeviceType::Rocm), |_| None));
    #[cfg(feature = "wgpu")]
    {
        let limits = wgpu::limits();
        let largest = |name: &str| {
            let own = limits.iter().filter(|(adapter, _)| adapter == name).map(|(_, limit)| *limit).min();
            Some(own.unwrap_or(wgpu::LEAST))
        };
        found.extend(opened("wgpu", Device::enumerate(burn::tensor::DeviceType::Wgpu), largest));
    }
    found
}

/// The devices of an API that can be opened.
#[cfg(any(feature = "cuda", feature = "rocm", feature = "wgpu"))]
fn opened(
    api: &'static str,
    devices: impl IntoIterator<Item = Device>,
    largest: impl Fn(&str) -> Option<u64>,
) -> Vec<Gpu> {
    let open = |device: Device| {
        // A driver that does not come up ends in a panic of burn's: then the device cannot be used.
        let identity =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| device.identity())).ok()??;
        let (name, hardware) = (identity.name, identity.physical.is_some());
        Some(Gpu { largest: largest(&name), name, api, hardware, device })
    };
    devices.into_iter().filter_map(open).collect()
}

#[cfg(feature = "wgpu")]
mod wgpu {
    use burn::tensor::wgpu::wgpu;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// What every device must allow, in bytes.
    pub(super) const LEAST: u64 = 128 << 20;

    /// The names of all adapters, and the bytes of their largest storage buffer binding.
    pub(super) fn limits() -> Vec<(String, u64)> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let mut listing = pin!(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        let mut context = Context::from_waker(Waker::noop());
        let adapters = loop {
            // Outside of a browser it is ready at once.
            if let Poll::Ready(adapters) = listing.as_mut().poll(&mut context) {
                break adapters;
            }
        };
        let of = |adapter: &wgpu::Adapter| {
            let limits = adapter.limits();
            (adapter.get_info().name, limits.max_storage_buffer_binding_size.min(limits.max_buffer_size))
        };
        adapters.iter().map(of).collect()
    }
}
