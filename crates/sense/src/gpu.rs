//! What `nvidia-smi` prints as comma-separated lines: [`crate::Command::GpuMemory`] and [`crate::Command::GpuList`].

/// A process on a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuApp {
    /// Its id, as the host counts.
    pub pid: u32,
    /// The GPU.
    pub gpu_uuid: String,
    /// The memory that it holds there, MiB; `None` where the driver does not say.
    pub used_mib: Option<u64>,
}

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Its number, as the driver counts.
    pub index: u32,
    /// Its name for ever.
    pub uuid: String,
    /// Its memory, MiB; `None` where the driver does not say.
    pub total_mib: Option<u64>,
    /// The part of it that is taken, MiB; `None` where the driver does not say.
    pub used_mib: Option<u64>,
    /// Where it sits on the bus, such as `00000000:1B:00.0`; empty where the driver does not say.
    pub bus_id: String,
}

/// The processes; headings and lines that are not understood are passed over.
pub fn gpu_apps(csv: &str) -> Vec<GpuApp> {
    let app = |line: &str| {
        let mut fields = line.split(',').map(str::trim);
        let pid = fields.next()?.parse().ok()?;
        let gpu_uuid = uuid(fields.next()?)?;
        Some(GpuApp { pid, gpu_uuid, used_mib: fields.next().and_then(mib) })
    };
    csv.lines().filter_map(app).collect()
}

/// The GPUs; headings and lines that are not understood are passed over.
pub fn gpus(csv: &str) -> Vec<Gpu> {
    let gpu = |line: &str| {
        let mut fields = line.split(',').map(str::trim);
        let index = fields.next()?.parse().ok()?;
        let uuid = uuid(fields.next()?)?;
        let [total_mib, used_mib] = [fields.next(), fields.next()].map(|field| field.and_then(mib));
        let bus_id = fields.next().filter(|id| is_bus_id(id)).unwrap_or_default().to_string();
        Some(Gpu { index, uuid, total_mib, used_mib, bus_id })
    };
    csv.lines().filter_map(gpu).collect()
}

/// `GPU-…` of a whole one, `MIG-…` of a slice.
fn uuid(field: &str) -> Option<String> {
    let whole =
        field.len() <= 96 && field.chars().all(|letter| letter.is_ascii_alphanumeric() || "-/".contains(letter));
    (whole && field.contains('-')).then(|| field.to_string())
}

fn is_bus_id(field: &str) -> bool {
    field.len() <= 32 && field.chars().all(|letter| letter.is_ascii_hexdigit() || ":.".contains(letter))
}

/// A figure, with its unit or without; `[N/A]` and the like are none.
fn mib(field: &str) -> Option<u64> {
    field.strip_suffix("MiB").unwrap_or(field).trim().parse().ok()
}
