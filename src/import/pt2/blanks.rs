//! What stands in the blanks of a line of the table of operators.

use crate::pt2::call::{Call, number_text};
use crate::pt2::schema::Argument;
use crate::pt2::{elementwise, reductions};
use crate::template::Blanks;

impl Blanks for Call<'_> {
    fn attribute(&self, name: &str) -> Option<String> {
        match self.argument(name)? {
            Argument::Bool(holds) => Some(holds.to_string()),
            Argument::Text(text) => Some((*text).clone()),
            Argument::Int(_) => self.size(name).map(|size| self.one(&size)),
            Argument::Ints(_) => self.sizes(name).map(|sizes| self.list(&sizes)),
            _ => number_text(self.number(name)?),
        }
    }

    fn input(&self, name: &str) -> Option<String> {
        if let Some(cast) = self.cast.get(name) {
            return Some(cast.clone());
        }
        self.tensor(name).map(|known| known.name.clone())
    }

    fn word(&self, name: &str) -> Option<String> {
        match name {
            "function" => Some(self.operator.trim_start_matches("special_").to_owned()),
            "reduced" => reductions::reduced(self),
            "eps" => reductions::eps(self),
            "bounds" => elementwise::bounds(self),
            "tensors" => {
                let inputs = self.node.inputs.iter();
                let tensors = inputs.filter_map(|argument| self.input(&argument.name));
                Some(tensors.collect::<Vec<_>>().join(", "))
            }
            _ => self.input(name).or_else(|| self.literal(name)),
        }
    }
}
