//! The state that the marks and the tooltip of a chart share, and what a visitor does with them.

use fuseline_browser::{Debounce, LONG_PRESS, now_ms};
use fuseline_core::{KernelId, TensorId};
use fuseline_view::picture::charts::scene::{KernelIdentity, Mark, MarkKey, Scene};
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use leptos::svg;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How long the pointer rests on a mark before its tooltip replaces another one.
const SWITCH_AFTER: Duration = Duration::from_millis(120);
/// How long a tooltip stays after the pointer has left its mark, so that the pointer can move onto
/// the tooltip.
const HIDE_AFTER: Duration = Duration::from_millis(500);

/// A mark, as long as each scene has it. A scene that leaves it as it was runs none of its readers.
#[derive(Clone)]
pub(super) struct ShownMark {
    pub(super) mark: ArcRwSignal<Mark>,
    /// Its name for screen readers.
    pub(super) name: ArcRwSignal<Option<String>>,
}

/// The signals of a chart.
#[derive(Clone, Copy)]
pub struct ChartState {
    /// The marks in drawing order.
    pub(super) keys: ReadSignal<Vec<MarkKey>>,
    /// The marks of which copies are drawn on top: those of the selected kernel, those of the
    /// kernel under the pointer, and the words that arrows would cover. Copies, because a mark that
    /// is moved to the front would lose the focus.
    pub(super) raised_keys: Memo<Vec<MarkKey>>,
    /// The mark whose tooltip shows.
    pub(super) pointed: Memo<Option<MarkKey>>,
    /// The present marks.
    marks: StoredValue<HashMap<MarkKey, ShownMark>>,
    /// The marks that can be focused, in the order of the arrow keys.
    focus_order: Memo<Vec<MarkKey>>,
    /// The mark that the tab key reaches.
    tab_stop: Memo<Option<MarkKey>>,
    is_tab_stop: StoredValue<Selector<Option<MarkKey>>>,
    is_kernel_selected: StoredValue<Selector<Option<KernelIdentity>>>,
    is_tensor_selected: StoredValue<Selector<Option<TensorId>>>,
    has_selection: Memo<bool>,
    elements: StoredValue<HashMap<MarkKey, NodeRef<svg::G>>>,
    /// The mark that has the focus.
    focused: StoredValue<Option<MarkKey>>,
    last_focused: RwSignal<Option<MarkKey>>,
    last_pointed: RwSignal<Option<MarkKey>>,
    on_press: Option<Callback<Mark>>,
    /// When a finger came onto a mark; `None` for another pointer.
    finger_ms: StoredValue<Option<f64>>,
    hide: Debounce,
    switch: Debounce,
}

impl ChartState {
    /// The state of the chart of `scene`, in which marks have the names that they have in `spoken`.
    pub(super) fn new(
        scene: Signal<Arc<Scene>>,
        spoken: Memo<Arc<Scene>>,
        selected_kernel: Signal<Option<KernelId>>,
        selected_tensor: Signal<Option<TensorId>>,
        on_press: Option<Callback<Mark>>,
    ) -> Self {
        let marks = StoredValue::new(HashMap::new());
        let (keys, set_keys) = signal(Vec::new());
        let follow = RenderEffect::new(move |_| {
            let now = scene.with(|scene| {
                let now = scene.keys();
                marks.update_value(|marks| set_marks(marks, &now, scene));
                now
            });
            if keys.with_untracked(|last| *last != now) {
                set_keys.set(now);
            }
        });
        let speak = RenderEffect::new(move |_| {
            spoken.with(|scene| marks.with_value(|marks| set_names(marks, scene)));
        });
        // They live as long as the chart.
        StoredValue::new_local((follow, speak));
        let focus_order: Memo<Vec<MarkKey>> = Memo::new(move |_| {
            let key_at = |mark: &usize| keys.with(|keys| keys.get(*mark).copied());
            scene.with(|scene| scene.focus_order.iter().filter_map(key_at).collect())
        });
        let is_there = move |key: &MarkKey| keys.with(|keys| keys.contains(key));
        let (last_focused, last_pointed) = (RwSignal::new(None), RwSignal::new(None));
        let tab_stop = Memo::new(move |_| {
            let first = || focus_order.with(|order| order.first().copied());
            last_focused.get().filter(is_there).or_else(first)
        });
        let pointed = Memo::new(move |_| last_pointed.get().filter(is_there));
        let selected = Memo::new(move |_| {
            let kernel = selected_kernel.get()?;
            scene.with(|scene| scene.kernels.get(kernel).copied())
        });
        // A chart in which no mark stands for the tensor has nothing to emphasize.
        let selected_tensor = Memo::new(move |_| {
            let tensor = selected_tensor.get()?;
            let is_there = keys.with(|keys| keys.iter().any(|key| key.tensor == Some(tensor)));
            is_there.then_some(tensor)
        });
        let has_selection =
            Memo::new(move |_| selected.with(Option::is_some) || selected_tensor.get().is_some());
        let raised_keys = Memo::new(move |_| {
            let pointed = pointed.get().and_then(|key: MarkKey| key.kernel);
            let selected = selected.get();
            let selected = selected.filter(|_| selected != pointed);
            let kernels = [selected, pointed].into_iter().flatten();
            let raised = |kernel| {
                let is_raised =
                    move |key: &&MarkKey| key.kernel == Some(kernel) && key.role.is_raised();
                keys.with(|keys| keys.iter().filter(is_raised).copied().collect::<Vec<_>>())
            };
            let mut raised: Vec<_> = kernels.flat_map(raised).collect();
            if !raised.is_empty() {
                // What names the marks below stays readable.
                let is_name = |key: &&MarkKey| key.role.is_over_arrows();
                keys.with(|keys| raised.extend(keys.iter().filter(is_name).copied()));
            }
            raised
        });
        Self {
            keys,
            raised_keys,
            pointed,
            marks,
            focus_order,
            tab_stop,
            is_tab_stop: StoredValue::new(Selector::new(move || tab_stop.get())),
            is_kernel_selected: StoredValue::new(Selector::new(move || selected.get())),
            is_tensor_selected: StoredValue::new(Selector::new(move || selected_tensor.get())),
            has_selection,
            elements: StoredValue::new(HashMap::new()),
            focused: StoredValue::new(None),
            last_focused,
            last_pointed,
            on_press,
            finger_ms: StoredValue::new(None),
            hide: Debounce::after(HIDE_AFTER),
            switch: Debounce::after(SWITCH_AFTER),
        }
    }

    /// The mark of a key, as long as a scene has it; `None` if the present one has not.
    pub(super) fn mark(self, key: MarkKey) -> Option<ShownMark> {
        self.marks.with_value(|marks| marks.get(&key).cloned())
    }

    /// Whether the kernel or the tensor of a mark is selected. Tracked.
    pub(super) fn is_selected(self, key: MarkKey) -> bool {
        self.is_kernel_selected(key) || self.is_tensor_selected(key)
    }

    /// Whether a press on a mark takes the selection back: it selects the tensor, or else the
    /// kernel. Tracked.
    pub(super) fn is_pressed(self, key: MarkKey) -> bool {
        match key.tensor {
            Some(_) => self.is_tensor_selected(key),
            None => self.is_kernel_selected(key),
        }
    }

    /// Whether anything in the chart is selected, so that the rest is faint. Tracked.
    pub(super) fn has_selection(self) -> bool {
        self.has_selection.get()
    }

    fn is_kernel_selected(self, key: MarkKey) -> bool {
        key.kernel.is_some()
            && (self.is_kernel_selected).with_value(|selected| selected.selected(&key.kernel))
    }

    fn is_tensor_selected(self, key: MarkKey) -> bool {
        key.tensor.is_some()
            && (self.is_tensor_selected).with_value(|selected| selected.selected(&key.tensor))
    }

    /// Whether the tab key reaches a mark. Tracked.
    pub(super) fn is_tab_stop(self, key: MarkKey) -> bool {
        (self.is_tab_stop).with_value(|is_tab_stop| is_tab_stop.selected(&Some(key)))
    }

    /// Registers the element of a focusable mark until the caller is unmounted.
    pub(super) fn register(self, key: MarkKey, element: NodeRef<svg::G>) {
        let elements = self.elements;
        elements.update_value(|elements| {
            elements.insert(key, element);
        });
        on_cleanup(move || {
            elements.try_update_value(|elements| elements.remove(&key));
        });
    }

    fn focus_element(self, key: MarkKey) {
        let element = self.elements.with_value(|all| all.get(&key).copied());
        if let Some(element) = element.and_then(|element| element.get_untracked()) {
            // Focusing a mounted element does not fail.
            let _ = element.focus();
        }
    }

    /// Called before marks are added, removed or moved. If that takes the focus from a mark, the
    /// mark gets it back, or the one that the tab key reaches if the mark was removed.
    pub(super) fn keep_focus(self) {
        if let Some(focused) = self.focused.get_value() {
            queue_microtask(move || {
                let is_there = (self.keys).try_with_untracked(|keys| keys.contains(&focused));
                let key = match is_there {
                    Some(true) => Some(focused),
                    Some(false) => self.tab_stop.get_untracked(),
                    // The chart was unmounted.
                    None => None,
                };
                if let Some(key) = key {
                    self.focus_element(key);
                }
            });
        }
    }

    /// Shows the tooltip of this mark, or none, at once.
    fn show_tip(self, key: Option<MarkKey>) {
        self.keep_tip();
        self.last_pointed.set(key);
    }

    /// Keeps the present tooltip.
    pub(super) fn keep_tip(self) {
        self.hide.cancel();
        self.switch.cancel();
    }

    /// Hides the tooltip.
    pub(super) fn hide_tip(self) {
        self.show_tip(None);
    }

    /// The pointer enters a mark.
    pub(super) fn point(self, key: MarkKey, event: &PointerEvent) {
        self.hide.cancel();
        let is_finger = is_finger(event);
        self.finger_ms.set_value(is_finger.then(now_ms));
        if is_finger || self.pointed.get_untracked().is_none() {
            self.show_tip(Some(key));
        } else {
            // The pointer may cross other marks on its way to the tooltip.
            self.switch.call(move || self.show_tip(Some(key)));
        }
    }

    /// The pointer leaves a mark or the tooltip.
    pub(super) fn point_away(self, event: &PointerEvent) {
        if is_finger(event) {
            return;
        }
        self.switch.cancel();
        self.hide.call(move || self.hide_tip());
    }

    /// A mark gets the focus.
    pub(super) fn focus(self, key: MarkKey) {
        self.focused.set_value(Some(key));
        self.last_focused.set(Some(key));
        self.show_tip(Some(key));
    }

    /// A mark loses the focus.
    pub(super) fn blur(self) {
        // A mark may lose the focus while the chart is unmounted.
        self.focused.try_set_value(None);
        if !self.last_pointed.is_disposed() {
            self.hide_tip();
        }
    }

    /// A mark is pressed, by pointer or key.
    pub(super) fn press(self, key: MarkKey) {
        if let Some((on_press, mark)) = self.on_press.zip(self.mark(key)) {
            // Another part of the page shows the effect, which the tooltip could cover.
            self.hide_tip();
            on_press.run(mark.mark.get_untracked());
        }
    }

    /// A mark is clicked. A long press of a finger shows its tooltip, and nothing else.
    pub(super) fn click(self, key: MarkKey) {
        let finger_ms = self.finger_ms.try_update_value(Option::take).flatten();
        let lasted_ms = finger_ms.map_or(0.0, |from_ms| now_ms() - from_ms);
        if lasted_ms < LONG_PRESS.as_secs_f64() * 1000.0 {
            self.press(key);
        }
    }

    /// A key is pressed on the focused mark.
    pub(super) fn key_down(self, key: MarkKey, event: &KeyboardEvent) {
        let order = self.focus_order.get_untracked();
        let Some(index) = order.iter().position(|other| *other == key) else {
            return;
        };
        let target = match event.key().as_str() {
            "ArrowRight" | "ArrowDown" => (index + 1) % order.len(),
            "ArrowLeft" | "ArrowUp" => (index + order.len() - 1) % order.len(),
            "Home" => 0,
            "End" => order.len() - 1,
            "Enter" | " " => {
                self.press(key);
                index
            }
            "Escape" if self.pointed.get_untracked().is_some() => {
                self.hide_tip();
                index
            }
            _ => return,
        };
        event.prevent_default();
        // The page would also clear the selection on Escape.
        event.stop_propagation();
        if target != index
            && let Some(target) = order.get(target)
        {
            self.focus_element(*target);
        }
    }
}

/// Makes `marks` those of a scene with these keys.
fn set_marks(marks: &mut HashMap<MarkKey, ShownMark>, keys: &[MarkKey], scene: &Scene) {
    let mut last = std::mem::take(marks);
    for (&key, now) in keys.iter().zip(&scene.marks) {
        let shown = last.remove(&key).unwrap_or_else(|| ShownMark {
            mark: ArcRwSignal::new(now.clone()),
            name: ArcRwSignal::new(name_of(now).cloned()),
        });
        if shown.mark.with_untracked(|mark| mark != now) {
            shown.mark.set(now.clone());
        }
        marks.insert(key, shown);
    }
}

/// Names `marks` as in a scene that may be older.
fn set_names(marks: &HashMap<MarkKey, ShownMark>, scene: &Scene) {
    for (key, now) in scene.keys().iter().zip(&scene.marks) {
        let Some(shown) = marks.get(key) else {
            continue;
        };
        if shown
            .name
            .with_untracked(|name| name.as_ref() != name_of(now))
        {
            shown.name.set(name_of(now).cloned());
        }
    }
}

fn name_of(mark: &Mark) -> Option<&String> {
    mark.label.as_ref().map(|label| &label.name)
}

fn is_finger(event: &PointerEvent) -> bool {
    event.pointer_type() == "touch"
}
