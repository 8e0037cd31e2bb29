//! The effect of fusion on the whole program, in a few figures.

use super::certificates::certificate_text;
use super::format::{format_bytes, format_change, format_exact, format_ratio};
use super::times::{lower_bound_text, total_time_text};
use crate::core::Analysis;

/// Bytes, kernels and predicted time, before and after fusion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// Bytes through memory, unfused.
    pub unfused_bytes: String,
    /// Bytes through memory, fused.
    pub fused_bytes: String,
    /// Change by fusion, in percent.
    pub change: String,
    /// Both and the difference, exactly.
    pub exact_bytes: String,
    /// Launched kernels, unfused.
    pub unfused_kernels: String,
    /// Launched kernels, fused.
    pub fused_kernels: String,
    /// Speedup.
    pub speedup: String,
    /// Both predicted times.
    pub times: String,
    /// The result of a search; `None` if the policy does not search.
    pub search: Option<SearchResult>,
    /// The device, and whether its times are lower bounds.
    pub device: String,
}

/// What a search minimized, and whether the result is proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// What it minimized.
    pub objective: String,
    /// Whether the result is proven optimal.
    pub certificate: String,
}

/// The figures of a program.
pub fn headline(analysis: &Analysis) -> Headline {
    let (unfused, fused) = (&analysis.unfused, &analysis.fused);
    let device = &analysis.options.device;
    let lower_bound = (unfused.first_lower_bound())
        .and_then(|kernel| lower_bound_text(kernel, &analysis.options));
    let saved_bytes = fused.traffic.saved_by_fusion;
    let exact = |bytes: u64| format_exact(bytes.into());
    Headline {
        unfused_bytes: format_bytes(unfused.traffic.total),
        fused_bytes: format_bytes(fused.traffic.total),
        change: format_change(analysis.savings_pct),
        exact_bytes: format!(
            "{} B read and written unfused, {} B fused, {} B {}",
            exact(unfused.traffic.total),
            exact(fused.traffic.total),
            exact(saved_bytes.unsigned_abs()),
            if saved_bytes < 0 { "more" } else { "saved" },
        ),
        unfused_kernels: unfused.launches.to_string(),
        fused_kernels: fused.launches.to_string(),
        speedup: format_ratio(analysis.speedup),
        times: {
            let times = format!(
                "sum of the kernels' times at full peak rates (roofline): {} unfused, {} fused",
                total_time_text(unfused),
                total_time_text(fused),
            );
            match &lower_bound {
                Some(reason) => format!("{times}; {reason}"),
                None => times,
            }
        },
        search: analysis
            .certificate
            .as_ref()
            .map(|certificate| SearchResult {
                objective: format!("least {}", certificate.objective.name()),
                certificate: certificate_text(certificate),
            }),
        device: if lower_bound.is_some() {
            format!("{} (times are lower bounds)", device.name)
        } else {
            device.name.to_string()
        },
    }
}

impl Headline {
    /// The same as one text, for screen readers.
    pub fn sentence(&self) -> String {
        let Self {
            unfused_bytes,
            fused_bytes,
            change,
            unfused_kernels,
            fused_kernels,
            speedup,
            device,
            ..
        } = self;
        let search = match &self.search {
            Some(search) => format!(" Kernels: {}.", search.certificate),
            None => String::new(),
        };
        format!(
            "Memory traffic {unfused_bytes} unfused, {fused_bytes} fused, {change}. \
             {unfused_kernels} kernels become {fused_kernels}. \
             Predicted {speedup} as fast on {device}.{search}"
        )
    }
}
