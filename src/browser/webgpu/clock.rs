//! Times of the GPU's own clock.

use wgpu::{BufferUsages, CommandEncoder, ComputePassTimestampWrites, QuerySet};

/// Bytes of two time stamps.
const BYTES: u64 = 16;
const NANOSECOND_S: f64 = 1e-9;

/// Time stamps at the beginning and the end of a pass.
pub(super) struct Clock {
    stamps: QuerySet,
    resolved: wgpu::Buffer,
    pub(super) readable: wgpu::Buffer,
}

impl Clock {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: BYTES,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            stamps: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC),
            readable: buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST),
        }
    }

    /// The instruction to write both time stamps of a pass.
    pub(super) const fn of_pass(&self) -> ComputePassTimestampWrites<'_> {
        ComputePassTimestampWrites {
            query_set: &self.stamps,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Copies the time stamps of the last pass into the buffer that can be read.
    pub(super) fn resolve(&self, encoder: &mut CommandEncoder) {
        encoder.resolve_query_set(&self.stamps, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, BYTES);
    }

    /// The time between both stamps, in seconds; 0 where the clock was set back.
    pub(super) fn seconds(bytes: &[u8]) -> f64 {
        let (stamps, _) = bytes.as_chunks::<8>();
        match stamps {
            [begin, end] => {
                let passed = u64::from_le_bytes(*end).saturating_sub(u64::from_le_bytes(*begin));
                passed as f64 * NANOSECOND_S
            }
            _ => 0.0,
        }
    }
}
