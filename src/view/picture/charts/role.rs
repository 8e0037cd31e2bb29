//! The roles of marks in charts.

use fuseline_core::Policy;
use strum::IntoStaticStr;

/// The role of a mark. Its name in kebab case, after `mark-`, is the CSS class of its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "mark-")]
pub enum Role {
    /// A grid line.
    Mesh,
    /// An axis and its ticks.
    Axis,
    /// The text at a tick.
    AxisText,
    /// The title of an axis.
    AxisTitle,
    /// The slope of the roofline: memory bandwidth.
    MemoryRoof,
    /// The peak of the matrix units.
    MatrixRoof,
    /// The peak of the vector units.
    VectorRoof,
    /// The name and figure of a roof.
    RoofText,
    /// The line between memory-bound and compute-bound.
    Ridge,
    /// The intensity of the ridge.
    RidgeText,
    /// The name of the memory-bound or the compute-bound region.
    RegionText,
    /// One op, run alone.
    OpPoint,
    /// The ops of a kernel before fusion.
    HollowPoint,
    /// A fused kernel.
    SolidPoint,
    /// A kernel under a policy, among those of all policies.
    Policy(Policy),
    PolicyCurve(Policy),
    CrossingNumber,
    /// Where a crossing is on a curve.
    CrossingRing,
    /// A kernel of the pinned state.
    PinnedPoint,
    /// A kernel as it ran on a GPU.
    MeasuredPoint,
    /// The rate that is predicted for a kernel.
    PredictedRate,
    /// From its point on the roof to that.
    PredictedDrop,
    /// The bytes of the pinned state.
    PinnedBar,
    /// Their figure.
    PinnedText,
    /// The arrow from the hollow to the solid point.
    Link,
    LinkHead,
    /// The line from a kernel's number to its point, where they are not close.
    Leader,
    /// The background of a kernel's number, which shows the kernel's label too.
    NumberPlate,
    /// The number of a kernel.
    Number,
    /// Bytes read.
    Read,
    /// Bytes written.
    Write,
    /// Bytes read before fusion, beside those after.
    ReadBefore,
    /// Bytes written before fusion, beside those after.
    WriteBefore,
    /// A time as it was measured.
    MeasuredTime,
    /// The predicted time beside it.
    PredictedTime,
    /// Bytes that fusion saves.
    Saved,
    /// The figure of these bytes.
    SavedText,
    /// Connects a kernel's segments in both bars.
    Ribbon,
    /// The name of a bar.
    BarText,
    BarFigure,
    /// A kernel on the strip of the memory timeline.
    KernelBox,
    /// Later iterations, of which one is shown.
    IterationsBox,
    /// The text in a box.
    BoxText,
    /// A number in a box that has no more room.
    NarrowBoxText,
    /// A tensor that a kernel writes, in DRAM or on chip.
    TensorBar,
    /// An input in DRAM.
    InputBar,
    /// A weight in DRAM.
    WeightBar,
    /// Tensors that are too small for bars of their own.
    SmallBar,
    /// The name of a tensor and its bytes.
    TensorText,
    /// A kernel reads a tensor.
    LoadArrow,
    /// A kernel writes a tensor.
    StoreArrow,
    /// The most memory that is live at once.
    PeakLine,
    /// Where that is.
    PeakPoint,
    /// Its figure.
    PeakText,
    /// The peak before fusion, beside that after.
    UnfusedPeak,
    /// Its figure.
    UnfusedPeakText,
    /// The call that launches a kernel.
    LaunchCall,
    /// From a call to the start of its kernel.
    LaunchLine,
    /// No kernel runs.
    IdleGap,
    /// Bytes that grow with the square of the sequence length.
    SquareCurve,
    /// A point of that curve.
    SquarePoint,
    /// Bytes with tiles that are read again for each block of queries.
    TileCurve,
    /// A point of that curve.
    TilePoint,
    /// Bytes that grow linearly with the sequence length.
    LineCurve,
    /// A point of that curve.
    LinePoint,
    /// A measured run of library kernels.
    EagerPoint,
    /// A measured run of compiled kernels.
    CompiledPoint,
    /// A measured run of compiled kernels, matmuls included.
    TunedPoint,
    /// Where something is not in memory: scores never, an output not yet.
    Outline,
    /// An operand of a matmul.
    Operand,
    /// The part of an operand that a wave reads.
    WaveStrip,
    /// The part that a tile reads.
    TileStrip,
    /// The part of that which one step along K reads.
    TileStep,
    /// The tiles of a wave; waves take a few colours in turn.
    Wave(u8),
    /// A line between tiles.
    TileLine,
    /// Wasted work: beyond the output, or slots of idle multiprocessors.
    TileWaste,
    TileFrame,
    /// Elements that an op after the matmul needs and the tile does not have.
    TileNeeds,
    /// The letter of a matrix.
    TileText,
    /// The wave efficiency, which a lesson hides while it asks for it.
    WaveEfficiency,
}

impl Role {
    /// The CSS classes of marks in this role.
    pub fn class(self) -> String {
        let role: &'static str = self.into();
        match self {
            Self::Policy(policy) | Self::PolicyCurve(policy) => {
                format!("{role} {role}-{}", policy.name())
            }
            Self::Wave(color) => format!("{role} {role}-{color}"),
            _ => role.to_owned(),
        }
    }

    /// Whether marks in this role are hatched.
    pub const fn is_hatched(self) -> bool {
        matches!(
            self,
            Self::Write | Self::WriteBefore | Self::StoreArrow | Self::TileWaste | Self::IdleGap
        )
    }

    /// Whether marks in this role are drawn on top when their kernel is selected or pointed at.
    pub const fn is_raised(self) -> bool {
        matches!(
            self,
            Self::HollowPoint
                | Self::SolidPoint
                | Self::MeasuredPoint
                | Self::PredictedRate
                | Self::PredictedDrop
                | Self::Link
                | Self::LinkHead
                | Self::LoadArrow
                | Self::StoreArrow
                | Self::NumberPlate
                | Self::Number
        )
    }

    /// Whether marks in this role stay above the arrows that are drawn on top.
    pub const fn is_over_arrows(self) -> bool {
        matches!(
            self,
            Self::TensorText | Self::PeakPoint | Self::PeakText | Self::UnfusedPeakText
        )
    }
}
