//! What a file is, by its name and its first bytes.

use strum::IntoStaticStr;

/// What wrote a file of measured kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
pub enum Kind {
    /// The script that Fuseline writes of a program: JSON.
    #[strum(serialize = "the program's script")]
    Script,
    /// A table as CSV: of Nsight Compute, Nsight Systems, rocprof or rocprofv3.
    #[strum(serialize = "a profiler's table")]
    Table,
    /// A Chrome trace, as `torch.profiler` and `jax.profiler` export it: JSON.
    #[strum(serialize = "a trace")]
    Trace,
    /// What `key_averages().table()` of `torch.profiler` prints.
    #[strum(serialize = "a printed table of torch.profiler")]
    Averages,
}

impl Kind {
    /// What it is called in a sentence.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// Measured kernels.
    Readable(Kind),
    /// Measured kernels in a form that has to be converted first: what it is and how, as the end of
    /// a sentence.
    Convertible(&'static str),
}

/// Recognises a file by its name and its first unpacked bytes; `None` if it is no measurement. A
/// few thousand bytes are enough.
pub fn recognise(name: &str, first: &[u8]) -> Option<Recognised> {
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    let extension = extension.as_deref().unwrap_or("");
    let own_form = match extension {
        "ncu-rep" => Some(
            "it is an Nsight Compute report in binary form: convert it to a table with ncu --import FILE --csv --page raw",
        ),
        "nsys-rep" | "qdrep" => Some(
            "it is an Nsight Systems report in binary form: convert it to a table with nsys stats --report cuda_gpu_trace --format csv FILE",
        ),
        _ => None,
    };
    if let Some(how) = own_form {
        return Some(Recognised::Convertible(how));
    }
    let text = String::from_utf8_lossy(first);
    let text = text.trim_start_matches(fuseline_core::json::is_blank);
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let kind = if text.starts_with(['{', '[']) {
        if has(&[
            "\"traceEvents\"",
            "\"schemaVersion\"",
            "\"deviceProperties\"",
        ]) || has(&["\"ph\""]) && has(&["\"ts\"", "\"cat\""])
        {
            Some(Kind::Trace)
        } else {
            (has(&["\"torch\""]) && has(&["\"rows\"", "\"device\""])).then_some(Kind::Script)
        }
    } else if has(&["# of Calls"]) && has(&["Self CPU %"]) {
        Some(Kind::Averages)
    } else {
        let is_table = text.starts_with("==PROF==")
            || text.starts_with("==WARNING==")
            || has(&[
                "\"Kernel Name\"",
                "Kernel Name,",
                "Kernel Name;",
                "Kernel Name\t",
                "Duration (ns)",
                "Total Time (ns)",
                "TotalDurationNs",
                "Start_Timestamp",
                "BeginNs",
            ]);
        (is_table || extension == "csv").then_some(Kind::Table)
    };
    kind.map(Recognised::Readable)
}
