//! The list of commands in `--help`, by what they are for.

use clap::Command;
use std::fmt::Write as _;

/// Titles, and the commands below each.
pub(super) const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Analyze a program",
        &["analyze", "diff", "sweep", "transformer", "precision"],
    ),
    (
        "Write it in another form",
        &["notation", "svg", "script", "code"],
    ),
    ("Measurements", &["measured", "calibrate", "report"]),
    ("Lessons", &["lesson"]),
    (
        "What there is",
        &["devices", "functions", "completions", "help"],
    ),
];

/// The command line with its commands in groups: clap has one list for all.
pub(super) fn grouped(mut command: Command) -> Command {
    command.build();
    let mut list = String::new();
    for (title, names) in GROUPS {
        // Writing to a `String` cannot fail.
        let _ = writeln!(list, "{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {name:<12} {about}");
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}\n"
    ))
}
