//! Links to polylines.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and layer ids are dense indices of one graph"
)]

use super::Point;
use super::layered::{Layered, LinkId};
use super::metrics::TRACK_GAP;
use super::tracks::{Run, tracks};

/// Where the horizontal runs of a layered graph lie.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    /// For each link the track of its run, counted from the top of its gap; `None` when it is straight.
    track: Vec<Option<usize>>,
    /// For each layer how many tracks lie below it.
    pub(super) count: Vec<usize>,
}

/// Gives every bent net of every gap its track.
pub(super) fn routes(graph: &Layered, x: &[f64]) -> Routes {
    let mut routes = Routes {
        track: vec![None; graph.links.len()],
        count: Vec::with_capacity(graph.layers.len()),
    };
    for layer in &graph.layers {
        let mut runs: Vec<Run> = Vec::new();
        let mut run_of: Vec<(LinkId, usize)> = Vec::new();
        for &node in layer {
            let mut links: Vec<LinkId> = graph.below(node).to_vec();
            links.sort_unstable_by_key(|&l| (graph.links[l].net, l));
            let mut last_net = None;
            for id in links {
                let link = &graph.links[id];
                if last_net != Some(link.net) {
                    last_net = Some(link.net);
                    runs.push(Run {
                        from: x[node] + link.upper_offset,
                        to: Vec::new(),
                    });
                }
                run_of.push((id, runs.len() - 1));
                if let Some(run) = runs.last_mut() {
                    run.to.push(x[link.lower] + link.lower_offset);
                }
            }
        }
        let (track_of, count) = tracks(&runs);
        for (link, run) in run_of {
            routes.track[link] = track_of[run];
        }
        routes.count.push(count);
    }
    routes
}

impl Routes {
    /// The corners on the way of the net that `last` ends: from below its source to above its target.
    /// `gap_y` is the height of the first track below each layer.
    pub(super) fn trail(
        &self,
        graph: &Layered,
        x: &[f64],
        gap_y: &[f64],
        last: LinkId,
    ) -> Vec<Point> {
        let mut points = Vec::new();
        let mut next = Some(last);
        while let Some(id) = next {
            let link = &graph.links[id];
            if let Some(track) = self.track[id] {
                let y = gap_y[graph.nodes[link.upper].layer] + track as f64 * TRACK_GAP;
                points.push(Point::new(x[link.lower] + link.lower_offset, y));
                points.push(Point::new(x[link.upper] + link.upper_offset, y));
            }
            next = match graph.above(link.upper).first() {
                Some(&above) if graph.nodes[link.upper].is_lane => Some(above),
                _ => None,
            };
        }
        points.reverse();
        points
    }
}

/// Drops points that do not turn, so that every corner is one.
pub(super) fn straighten(points: Vec<Point>) -> Vec<Point> {
    let near = |a: f64, b: f64| (a - b).abs() < 0.01;
    let mut kept: Vec<Point> = Vec::with_capacity(points.len());
    for point in points {
        if let Some(last) = kept.last()
            && near(last.x, point.x)
            && near(last.y, point.y)
        {
            continue;
        }
        if let [.., a, b] = kept[..]
            && ((near(a.x, b.x) && near(b.x, point.x)) || (near(a.y, b.y) && near(b.y, point.y)))
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}
