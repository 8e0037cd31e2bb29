//! The table of fixed strings: a row for each, English first. A row without all languages does not
//! compile.
//!
//! Reasons of the engine, figures and their units are no fixed strings, and stay English. So do the
//! names of what is outside a lesson or a puzzle, such as the buttons *Learn* and *Undo*.

use super::Language;

/// Makes a method of each row. `name: …` gives a `&'static str`; the holes of `name(hole: Type): …`
/// are filled by name.
macro_rules! table {
    ($($name:ident $(($($hole:ident: $kind:ty),+))?: $english:literal, $german:literal;)+) => {
        #[allow(clippy::match_same_arms, reason = "some words are the same in two languages")]
        impl Language {
            $(table!(@row $name $(($($hole: $kind),+))? $english $german);)+
        }
    };
    (@row $name:ident $english:literal $german:literal) => {
        #[doc = concat!("`", $english, "`")]
        pub const fn $name(self) -> &'static str {
            match self {
                Self::English => $english,
                Self::German => $german,
            }
        }
    };
    (@row $name:ident ($($hole:ident: $kind:ty),+) $english:literal $german:literal) => {
        #[doc = concat!("`", $english, "`")]
        pub fn $name(self, $($hole: $kind),+) -> String {
            match self {
                Self::English => format!($english),
                Self::German => format!($german),
            }
        }
    };
}

table! {
    // The bar, the steps and the foot of a lesson.
    all_lessons: "All lessons", "Alle Lektionen";
    back_to_program: "Back to your program", "Zurück zu deinem Programm";
    leaves_lesson:
        "Leaves the lesson. Your program is as you left it.",
        "Beendet die Lektion. Dein Programm ist so, wie du es verlassen hast.";
    step(number: usize, title: &str): "Step {number}: {title}", "Schritt {number}: {title}";
    page_changed: "You changed the page. ", "Du hast die Seite geändert. ";
    reset_goes_back:
        " goes back to how this step began.",
        " stellt den Anfang dieses Schritts wieder her.";
    reset_step: "Reset this step", "Schritt zurücksetzen";
    back: "Back", "Zurück";
    next: "Next", "Weiter";
    skip: "Skip", "Überspringen";
    to_the_end: "To the end", "Zum Ende";
    next_lesson: "Next lesson", "Nächste Lektion";
    copy_link: "Copy a link", "Link kopieren";
    link_copied: "Link to this lesson copied.", "Link zu dieser Lektion kopiert.";
    worksheet: "Worksheet", "Arbeitsblatt";
    worksheet_about: "The questions on paper, with a key", "Die Fragen auf Papier, mit Lösungen";
    whole_page: "Whole page", "Ganze Seite";
    whole_page_about:
        "The whole page with this program. Learn leads back.",
        "Die ganze Seite mit diesem Programm. „Learn“ führt zurück.";
    edit: "Edit", "Bearbeiten";

    // A task.
    predict: "Predict", "Vorhersagen";
    answer: "Answer", "Antworten";
    show_me: "Show me", "Zeig es mir";
    hint: "Hint", "Tipp";
    try_again: "Try again", "Noch einmal versuchen";
    goal_done: "done: ", "erreicht: ";

    // The form of an answer, in an empty field and on paper.
    form_count: "a number", "eine Zahl";
    form_bytes: "a number with kB, MB or GB", "eine Zahl mit kB, MB oder GB";
    form_seconds: "a number with ns, µs or ms", "eine Zahl mit ns, µs oder ms";
    form_flops: "a number with GFLOP or TFLOP", "eine Zahl mit GFLOP oder TFLOP";
    form_intensity: "a number of FLOP/B", "eine Zahl in FLOP/B";
    form_percent: "a percentage", "ein Prozentsatz";
    form_ratio: "a factor", "ein Faktor";
    form_flops_per_second: "a number with TFLOP/s", "eine Zahl mit TFLOP/s";
    form_bytes_per_second: "a number with GB/s or TB/s", "eine Zahl mit GB/s oder TB/s";

    // An answer that cannot be read.
    write_number(sample: &str):
        "write a number, such as {sample}",
        "schreibe eine Zahl, zum Beispiel {sample}";
    write_unit(sample: &str):
        "write the unit, too, such as {sample}",
        "schreibe auch die Einheit, zum Beispiel {sample}";
    other_unit(unit: &str, sample: &str):
        "the unit `{unit}` does not fit here: write, for example, {sample}",
        "die Einheit `{unit}` passt hier nicht: schreibe zum Beispiel {sample}";
    choose_first: "choose an answer first", "wähle zuerst eine Antwort";
    other_kind:
        "this task takes another kind of answer",
        "diese Aufgabe erwartet eine andere Art von Antwort";
    step_without_program: "this step shows no program", "dieser Schritt zeigt kein Programm";

    // The verdict on an answer.
    right(answer: &str): "Right: {answer}.", "Richtig: {answer}.";
    right_within(answer: &str, part: &str):
        "Right: {answer} (anything within {part} counts).",
        "Richtig: {answer} (Abweichungen bis {part} zählen als richtig).";
    wrong(answer: &str):
        "Not quite. The answer is {answer}.",
        "Nicht ganz. Die Antwort ist {answer}.";
    not_quite(nudge: &str): "Not quite. {nudge}", "Nicht ganz. {nudge}";
    larger: "The answer is larger.", "Die Antwort ist größer.";
    smaller: "The answer is smaller.", "Die Antwort ist kleiner.";
    choose_another: "Choose another one.", "Wähle eine andere.";
    wrong_and_missing:
        "Something is wrong, and something is missing.",
        "Etwas ist falsch, und etwas fehlt.";
    something_wrong: "Something is wrong.", "Etwas ist falsch.";
    something_missing: "Something is missing.", "Etwas fehlt.";
    option(label: &str): "\"{label}\"", "„{label}“";
    and(others: &str, last: &str): "{others} and {last}", "{others} und {last}";

    // The goals of a task to do.
    goal(wanted: &str): "Goal: {wanted}.", "Ziel: {wanted}.";
    goal_now(wanted: &str, now: &str): "Goal: {wanted}. Now: {now}.", "Ziel: {wanted}. Jetzt: {now}.";
    goal_legal:
        "Goal: the text has no errors and all its kernels are legal.",
        "Ziel: Der Text hat keine Fehler, und alle seine Kernel sind zulässig.";
    reached: "You reached the goal.", "Du hast das Ziel erreicht.";
    reached_for(reasons: &str):
        "You reached the goal: {reasons}",
        "Du hast das Ziel erreicht: {reasons}";
    reached_at(value: &str):
        "You reached the goal at {value}.",
        "Du hast das Ziel bei {value} erreicht.";
    reached_at_for(value: &str, reasons: &str):
        "You reached the goal at {value}: there, {reasons}",
        "Du hast das Ziel bei {value} erreicht. Dort gilt: {reasons}";

    // How a step ended.
    skipped: "skipped", "übersprungen";
    shown: "the page showed the answer", "die Seite hat die Antwort gezeigt";
    right_later: "right on a later try", "bei einem späteren Versuch richtig";
    right_at_once: "right at once", "sofort richtig";
    not_done: "not done", "nicht bearbeitet";

    // The end of a lesson.
    end_of(title: &str): "The end of “{title}”", "Das Ende von „{title}“";
    can_say: "You can now say:", "Das kannst du jetzt sagen:";
    all_answered:
        "You answered every step yourself, at the first try.",
        "Du hast jeden Schritt selbst und beim ersten Versuch beantwortet.";
    look_again: "Look again at:", "Sieh dir noch einmal an:";
    try_own_program:
        "Try it on your own program. ",
        "Probiere es an deinem eigenen Programm aus. ";
    hand_in: "Hand in your results", "Ergebnisse abgeben";

    // A lesson before a class, and what its speaker reads.
    step_of(step: usize, count: usize): "{step} of {count}", "{step} von {count}";
    the_end: "the end", "das Ende";
    no_notes:
        "No notes for this step. The class reads:",
        "Zu diesem Schritt gibt es keine Notizen. Die Klasse liest:";
    class_sees_answer: "The class sees the answer.", "Die Klasse sieht die Antwort.";
    next_shows_answer:
        "Next shows the answer to the class.",
        "„Next“ zeigt der Klasse die Antwort.";
    ask_the_class:
        "Ask the class for each of these sentences before you read it out.",
        "Frag die Klasse nach jedem dieser Sätze, bevor du ihn vorliest.";
    comes_next(title: &str): "Next: {title}", "Danach: {title}";
    last_step: "This is the last step.", "Das ist der letzte Schritt.";

    // The worksheet.
    sheets_about:
        "Two pages of questions, and the key on a page of its own. Sheet 0 is as in the lesson. Each other sheet has other sizes where the words allow it, and its options in another order.",
        "Zwei Seiten mit Fragen, und die Lösungen auf einer eigenen Seite. Blatt 0 ist wie die Lektion. Jedes andere Blatt hat andere Größen, wo die Worte es erlauben, und seine Optionen in anderer Reihenfolge.";
    sheet: "Sheet ", "Blatt ";
    other_numbers: "Use other numbers", "Andere Zahlen verwenden";
    print: "Print", "Drucken";
    close: "Close", "Schließen";
    name: "Name", "Name";
    date: "Date", "Datum";
    sheet_opens(sheet: u32):
        "Sheet {sheet}. The code on the right opens the lesson.",
        "Blatt {sheet}. Der Code rechts öffnet die Lektion.";
    qr_code: "QR code of the link", "QR-Code des Links";
    only_this_machine:
        "This page comes from this machine, so only this machine can open the link. Serve it where the class can reach it.",
        "Diese Seite kommt von diesem Rechner, also kann nur er den Link öffnen. Stelle sie dort bereit, wo die Klasse sie erreicht.";
    empty_roofline: "Empty roofline", "Leere Roofline";
    roofline_about(device: &str):
        "Axes to draw a roofline into. Question 1 has the rates of {device}.",
        "Achsen zum Einzeichnen einer Roofline. Bei Frage 1 stehen die Raten von {device}.";
    policy(policy: &str): "Fusion policy: {policy}.", "Fusionsstrategie: {policy}.";
    gpu(device: &str, figures: &str): "GPU: {device}, {figures}.", "GPU: {device}, {figures}.";
    from_memory(rate: &str): "{rate} from memory", "{rate} aus dem Speicher";
    for_matmuls(rate: &str): "{rate} for f16 matmuls", "{rate} für f16-Matmuls";
    for_vectors(rate: &str): "{rate} for f32 vector work", "{rate} für f32-Vektorarbeit";
    per_launch(time: &str): "{time} per launch", "{time} pro Kernelstart";
    program_before_with:
        "The program of the question before, with",
        "Das Programm der vorigen Frage, mit";
    program_before: "The program of the question before.", "Das Programm der vorigen Frage.";
    long_program(lines: usize, step: usize):
        "The program has {lines} lines. The page shows it, in step {step}.",
        "Das Programm hat {lines} Zeilen. Die Seite zeigt es in Schritt {step}.";
    answer_line: "Answer", "Antwort";
    by_calculation: "On the page, or by calculation:", "Auf der Seite oder durch Rechnen:";
    slider_range(min: i64, max: i64, step: i64):
        "{min} to {max} in steps of {step}",
        "{min} bis {max} in Schritten von {step}";
    tick_one: "Tick one.", "Kreuze eine an.";
    tick_all: "Tick all that are right.", "Kreuze alle richtigen an.";
    done_on_page(step: usize):
        "On the page, in step {step}: ☐ done",
        "Auf der Seite, in Schritt {step}: ☐ erledigt";
    key(sheet: u32, title: &str): "Key, sheet {sheet}: {title}", "Lösungen, Blatt {sheet}: {title}";
    one_way_of_several:
        " This is one way of several: the page checks any other.",
        " Das ist einer von mehreren Wegen: Die Seite prüft jeden anderen.";
    holds_until(last: &str, beyond: &str):
        " {last} is right, too, and {beyond} no longer.",
        " {last} ist auch richtig, {beyond} nicht mehr.";
    holds_to_the_end(last: &str):
        " {last}, the largest, is right, too.",
        " {last}, der größte Wert, ist auch richtig.";
    holds_alone(beyond: &str): " {beyond} is not right.", " {beyond} ist nicht richtig.";

    // The bar of a puzzle.
    all_puzzles: "All puzzles", "Alle Rätsel";
    least_traffic(device: &str):
        "Least memory traffic on {device}.",
        "Möglichst wenig Speicherverkehr auf {device}.";
    least_time(device: &str):
        "Least time on {device}, as the lower bound of the roofline.",
        "Möglichst wenig Zeit auf {device}, als untere Schranke der Roofline.";
    by_mouse:
        "Drag a kernel onto another to merge them, or select one for its buttons. Keys: Tab to an op, then M merges and X cuts.",
        "Ziehe einen Kernel auf einen anderen, um beide zu verbinden, oder wähle einen aus, um seine Schaltflächen zu sehen. Tasten: Tab zu einer Op, dann verbindet M und trennt X.";
    by_touch:
        "Drag a kernel by its number onto another to merge them, or tap one for its buttons.",
        "Ziehe einen Kernel an seiner Nummer auf einen anderen, um beide zu verbinden, oder tippe auf einen, um seine Schaltflächen zu sehen.";
    hints: "Hints", "Tipps";
    hint_about: "First where to look, then the move", "Zuerst die Stelle, dann der Zug";
    name_move: "Name the move", "Zug nennen";
    start_again: "Start again", "Neu beginnen";
    show_optimum: "Show the optimum", "Optimum zeigen";
    back_to_kernels: "Back to my kernels", "Zurück zu meinen Kerneln";
    share_solution: "Share my solution", "Meine Lösung teilen";
    solution_copied:
        "Link to these kernels copied. Whoever opens it sees them graded again.",
        "Link zu diesen Kerneln kopiert. Wer ihn öffnet, sieht sie neu bewertet.";
    next_puzzle: "Next puzzle", "Nächstes Rätsel";

    // How far the kernels of a puzzle are.
    start: "Start", "Start";
    now: "Now", "Jetzt";
    par: "Par", "Par";
    moves: "Moves", "Züge";
    moves_about:
        "Merges and cuts since the start; Undo takes one back",
        "Verbindungen und Trennungen seit dem Start; „Undo“ nimmt eine zurück";
    one_move: "1 move", "1 Zug";
    several_moves(count: &str): "{count} moves", "{count} Zügen";
    fewest(moves: &str): " (best {moves})", " (am besten in {moves})";
    start_to_par: "From the start to par", "Vom Start bis Par";
    above_par(amount: &str, part: &str): "{amount} above par, {part}", "{amount} über Par, {part}";
    solved(moves: &str, saved: &str):
        "Solved in {moves}: {saved}. No legal kernels cost less.",
        "Gelöst in {moves}: {saved}. Keine zulässigen Kernel kosten weniger.";
    less_traffic(now: &str, start: &str, ratio: &str):
        "{now} instead of {start}, {ratio} less",
        "{now} statt {start}, {ratio} weniger";
    less_time(now: &str, start: &str, ratio: &str):
        "{now} instead of {start}, at best {ratio} faster",
        "{now} statt {start}, bestenfalls {ratio} schneller";
    solved_by_sender:
        "Solved by the sender's kernels. Start again to solve it yourself.",
        "Gelöst mit den Kerneln des Absenders. Beginne neu, um es selbst zu lösen.";
    found_by_search:
        "At par: these are the kernels that the search found.",
        "Auf Par: Das sind die Kernel, die die Suche gefunden hat.";
    not_by_own_moves:
        "At par, but not by your own moves. Start again to solve it.",
        "Auf Par, aber nicht durch deine eigenen Züge. Beginne neu, um es zu lösen.";
    ranks: "Ranks", "Ränge";
    rank_reached: ", reached", ", erreicht";
    rank_not_reached: ", not reached", ", nicht erreicht";
    legal: "Legal", "Zulässig";
    better_than_compiler: "Better than torch.compile", "Besser als torch.compile";
    proven_optimum: "Proven optimum", "Bewiesenes Optimum";
    proven_optimum_of_compiler:
        "Proven optimum, as good as torch.compile",
        "Bewiesenes Optimum, so gut wie torch.compile";
    below(amount: &str): "below {amount}", "unter {amount}";

    // Kernels that are not graded.
    restore_choices: "Restore the puzzle's choices", "Einstellungen des Rätsels wiederherstellen";
    text_without_program: "The text has no program.", "Der Text enthält kein Programm.";
    illegal_kernels:
        "The text has an error or a kernel that is not legal.",
        "Der Text hat einen Fehler oder einen Kernel, der nicht zulässig ist.";
    other_program:
        "The program or its sizes differ from the puzzle's.",
        "Das Programm oder seine Größen weichen vom Rätsel ab.";
    other_policy:
        "These are not your kernels. Set the fusion policy to “by hand”.",
        "Das sind nicht deine Kernel. Stelle die Fusionsstrategie auf „by hand“.";
    other_device(device: &str):
        "The puzzle uses another device: {device}.",
        "Das Rätsel verwendet ein anderes Gerät: {device}.";
    other_choices:
        "The fusion options or the counting conventions differ from the puzzle's.",
        "Die Fusionsoptionen oder die Zählweisen weichen vom Rätsel ab.";

    // A program that is no puzzle.
    unreadable_puzzle(problem: &str):
        "This puzzle could not be read: {problem}.",
        "Dieses Rätsel konnte nicht gelesen werden: {problem}.";
    puzzle_too_large:
        "The program is too large for a puzzle: solving it would take hundreds of merges.",
        "Das Programm ist zu groß für ein Rätsel: Die Lösung bräuchte Hunderte von Zügen.";
    puzzle_with_error:
        "The program has an error, or no ops.",
        "Das Programm hat einen Fehler oder keine Ops.";
    puzzle_not_proven:
        "The search did not prove an optimum of this program, so the puzzle would have no par. Use fewer ops.",
        "Die Suche hat für dieses Programm kein Optimum bewiesen, also hätte das Rätsel kein Par. Verwende weniger Ops.";
    puzzle_saves_nothing:
        "Fusion saves nothing in this program, so there is nothing to solve.",
        "Fusion spart in diesem Programm nichts, also gibt es nichts zu lösen.";

    // The way to the optimum.
    way_to_optimum: "The way to the optimum", "Der Weg zum Optimum";
    nothing_left:
        "These kernels are at par: there is nothing left to do.",
        "Diese Kernel sind auf Par: Es gibt nichts mehr zu tun.";
    step_to_optimum(step: usize, count: usize):
        "Step {step} of {count} to the optimum",
        "Schritt {step} von {count} zum Optimum";
    previous_step: "Previous step", "Voriger Schritt";
    next_step: "Next step", "Nächster Schritt";
}
