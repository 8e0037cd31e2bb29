//! How the window is divided between the panes.

use fuseline::app::panes::{Divider, Panes};
use proptest::prelude::*;

fn widths(panes: Panes) -> String {
    panes.widths().map(|width| format!("{width:.1}")).join(" ")
}

const DIVIDERS: [Divider; 3] = [Divider::OpsGraph, Divider::GraphCharts, Divider::Below];

#[test]
fn a_divider_goes_where_it_is_moved_and_no_further_than_its_neighbours_allow() {
    let panes = Panes::default();
    assert_eq!(widths(panes), "26.0 41.0 33.0");
    for (divider, place, expected) in [
        (Divider::OpsGraph, 20.0, "20.0 47.0 33.0"),
        (Divider::OpsGraph, 90.0, "52.0 15.0 33.0"),
        (Divider::GraphCharts, 200.0, "26.0 59.0 15.0"),
    ] {
        assert_eq!(widths(panes.moved(divider, place)), expected);
    }
    let height = |px| panes.moved(Divider::Below, px).position(Divider::Below);
    assert_eq!([height(700.0), height(0.0)], [Some(700.0), Some(320.0)]);
}

#[test]
fn the_first_places_come_back() {
    let moved = (Panes::default().moved(Divider::OpsGraph, 50.0)).moved(Divider::Below, 700.0);
    let columns = moved.reset(Divider::OpsGraph);
    assert_eq!(widths(columns), "26.0 41.0 33.0");
    assert_eq!(columns.position(Divider::Below), Some(700.0));
    let height = moved.reset(Divider::Below);
    assert_eq!(widths(height), "50.0 17.0 33.0");
    assert_eq!(height.position(Divider::Below), None);
}

#[test]
fn what_another_version_stored_gives_possible_panes_or_none() {
    for (stored, expected) in [("80 85", "70.0 15.0 15.0"), ("NaN inf", "15.0 70.0 15.0")] {
        assert_eq!(widths(stored.parse().unwrap()), expected);
    }
    for text in ["", "wide", "30 70 tall"] {
        assert!(text.parse::<Panes>().is_err(), "{text}");
    }
}

#[test]
fn columns_that_touch_their_least_width_stay_in_their_ranges() {
    // The `f64` next to 17.3 + 15 is smaller: it would leave less than 15 percent.
    let panes = (Panes::default().moved(Divider::OpsGraph, 17.3)).moved(Divider::GraphCharts, 0.0);
    assert_eq!(widths(panes), "17.3 15.0 67.7");
    assert_possible(panes);
}

fn assert_possible(panes: Panes) {
    assert!(panes.widths().iter().all(|&width| width >= 15.0), "{panes}");
    assert!(
        (panes.widths().iter().sum::<f64>() - 100.0).abs() < 1e-9,
        "{panes}"
    );
    for divider in DIVIDERS {
        let [least, greatest] = panes.range(divider);
        let place = panes.position(divider);
        assert!(
            place.is_none_or(|place| (least..=greatest).contains(&place)),
            "{panes}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn however_it_is_divided_each_pane_has_its_room_and_the_same_comes_back(
        // Most places beyond 100 percent would only ever reach the ends of the columns.
        moves in prop::collection::vec((0..3_usize, prop_oneof![-50.0..5000.0_f64, 0.0..100.0_f64]), 0..8),
    ) {
        let panes = (moves.iter()).fold(Panes::default(), |panes, &(divider, place)| {
            panes.moved(DIVIDERS[divider], place)
        });
        assert_possible(panes);
        prop_assert_eq!(panes.to_string().parse::<Panes>().unwrap(), panes);
    }
}
