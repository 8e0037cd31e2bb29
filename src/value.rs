//! Values that effects follow.
//!
//! What leptos's own signals do for each type of value anew, these do with one trigger for all types: a visitor
//! downloads it once. Values live as long as the page.

use leptos::prelude::{ArcTrigger, Notify, Track};
use std::cell::RefCell;

/// A value that effects follow.
pub struct Value<T: 'static>(&'static Inner<T>);

struct Inner<T> {
    value: RefCell<T>,
    changed: ArcTrigger,
}

impl<T> Value<T> {
    /// A value that begins as `value`.
    pub fn new(value: T) -> Self {
        Self(Box::leak(Box::new(Inner {
            value: RefCell::new(value),
            changed: ArcTrigger::new(),
        })))
    }

    /// Lets the effect that runs just now run again when this changes.
    pub fn track(self) {
        self.0.changed.track();
    }

    /// What `read` finds in the present value, followed.
    pub fn with<O>(self, read: impl FnOnce(&T) -> O) -> O {
        self.track();
        self.with_untracked(read)
    }

    /// What `read` finds in the present value, once. It must not write this value.
    pub fn with_untracked<O>(self, read: impl FnOnce(&T) -> O) -> O {
        read(&self.0.value.borrow())
    }

    /// Changes the value and wakes whoever follows it.
    pub fn update(self, change: impl FnOnce(&mut T)) {
        self.update_untracked(change);
        self.0.changed.notify();
    }

    /// Changes the value and wakes nobody.
    pub fn update_untracked<O>(self, change: impl FnOnce(&mut T) -> O) -> O {
        change(&mut self.0.value.borrow_mut())
    }

    /// Replaces the value and wakes whoever follows it.
    pub fn set(self, value: T) {
        self.update(|present| *present = value);
    }
}

impl<T: Clone> Value<T> {
    /// The present value; whoever reads it here follows it.
    pub fn get(self) -> T {
        self.with(T::clone)
    }

    /// The present value, once.
    pub fn get_untracked(self) -> T {
        self.with_untracked(T::clone)
    }
}

impl<T: PartialEq> Value<T> {
    /// Replaces the value if that changes it, so that nobody wakes for nothing.
    pub fn set_if_changed(self, value: T) {
        if self.with_untracked(|present| *present != value) {
            self.set(value);
        }
    }
}

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Value<T> {}
