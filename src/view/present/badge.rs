//! What distinguishes a kernel from others: its colour, and the form of its badge.

use fuseline_core::{IdVec, KernelId, Partition};

/// Colours in the palette of `style/tokens.css`.
pub const COLORS: usize = 12;
/// Forms of badges: a pill, a box, and a box with two round corners.
const FORMS: usize = 3;

/// One of twelve colours and three forms of badge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelLook {
    /// The colour, counted from 0.
    pub color: usize,
    /// The form of the badge, counted from 0.
    pub form: usize,
}

impl KernelLook {
    /// The CSS class of the colour: `kernel-1` to `kernel-12`.
    pub fn color_class(self) -> String {
        format!("kernel-{}", self.color + 1)
    }

    /// The CSS classes of whatever belongs to a kernel: its colour and the form of its badge.
    pub fn class(self) -> String {
        let form = match self.form {
            0 => "",
            1 => " kernel-round-2",
            _ => " kernel-round-3",
        };
        self.color_class() + form
    }
}

/// The look of each kernel. The colour follows from the kernel's first op, so a kernel keeps it
/// while others are merged or cut; one that would have the colour of the kernel before it takes the
/// next colour. Kernels of the same colour take turns with the forms. `O(kernels)`.
pub fn kernel_looks(partition: &Partition) -> IdVec<KernelId, KernelLook> {
    let mut before = None;
    let mut of_color = [0; COLORS];
    let first_ops = partition.kernels.iter().map(|ops| ops.first());
    first_ops
        .map(|op| {
            let first = op.map_or(0, |op| op.index());
            let is_taken = before == Some(first % COLORS);
            let color = (first + usize::from(is_taken)) % COLORS;
            before = Some(color);
            let form = of_color.get(color).copied().unwrap_or(0);
            if let Some(next) = of_color.get_mut(color) {
                *next = (form + 1) % FORMS;
            }
            KernelLook { color, form }
        })
        .collect()
}
