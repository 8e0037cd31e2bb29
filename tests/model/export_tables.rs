//! Tables to take away: exact numbers, which are those of the analysis.

use fuseline::app::analysed::AnalysisInput;
use fuseline::app::jobs::Job;
use fuseline::app::queries::{self, Asked};
use fuseline::app::runner::Runner;
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{Options, Outcome, Policy, analyze_program};
use fuseline_view::present::tables::{Table, TableKind};
use strum::VariantArray;

fn of_text(text: &str) -> Outcome {
    let options = Options {
        policy: Policy::Rules,
        ..Options::default()
    };
    analyze_program(&parse(text).program, &options)
}

fn table(text: &str, outcome: &Outcome, kind: TableKind) -> Table {
    let shown = KernelsInText {
        text,
        program: &parse(text).program,
        analysis: outcome.analysis.as_ref().unwrap(),
        statement_of_op: &outcome.statement_of_op,
    };
    Table::new(kind, shown)
}

/// A table as a spreadsheet reads it.
fn read(csv: &str) -> Table {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head: Vec<&str> = reader
        .headers()
        .unwrap()
        .iter()
        .map(|name| &*name.to_owned().leak())
        .collect();
    let rows = reader
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect());
    Table {
        rows: rows.collect(),
        head,
    }
}

#[test]
fn what_is_read_from_a_file_are_the_rows() {
    for example in EXAMPLES {
        let outcome = of_text(example.text);
        for &kind in TableKind::VARIANTS {
            let table = table(example.text, &outcome, kind);
            assert_eq!(read(&table.csv()), table, "{} {}", example.id, kind.name());
        }
    }
}

#[test]
fn the_columns_of_kernels_add_up_to_the_bytes_of_the_program() {
    for example in EXAMPLES {
        let outcome = of_text(example.text);
        let analysis = outcome.analysis.as_ref().unwrap();
        let table = table(example.text, &outcome, TableKind::Kernels);
        let sum = |name: &str| -> u64 {
            let column = table
                .head
                .iter()
                .position(|column| *column == name)
                .unwrap();
            let cells = table
                .rows
                .iter()
                .map(|row| row[column].parse::<u64>().unwrap());
            cells.sum()
        };
        assert_eq!(
            sum("bytes read"),
            analysis.fused.traffic.bytes_read,
            "{}",
            example.id
        );
        assert_eq!(
            sum("bytes written"),
            analysis.fused.traffic.bytes_written,
            "{}",
            example.id
        );
        assert_eq!(
            sum("bytes unfused"),
            analysis.unfused.traffic.total,
            "{}",
            example.id
        );
    }
}

#[test]
fn names_that_hold_commas_quotes_and_lines_stay_one_cell() {
    let table = Table {
        head: vec!["name", "bytes (B)"],
        rows: vec![
            vec!["a, \"b\"\r\nc".to_owned(), "33554432".to_owned()],
            vec![String::new(), String::new()],
        ],
    };
    let csv = table.csv();
    assert_eq!(
        csv,
        "name,bytes (B)\r\n\"a, \"\"b\"\"\r\nc\",33554432\r\n,\r\n"
    );
    assert_eq!(read(&csv), table);
}

#[test]
fn an_empty_table_keeps_its_head() {
    let text = "input x : f16[1024]\ny = relu(x)\n";
    let csv = table(text, &of_text(text), TableKind::Edges).csv();
    assert_eq!(csv.lines().count(), 1);
    assert!(csv.starts_with("from,to,tensor,"), "{csv}");
}

#[test]
fn the_worker_writes_the_same_tables() {
    let text = EXAMPLES[0].text;
    let options = Options {
        policy: Policy::Rules,
        ..Options::default()
    };
    let outcome = of_text(text);
    let mut runner = Runner::default();
    for &kind in TableKind::VARIANTS {
        let job = Job {
            input: AnalysisInput {
                text: text.into(),
                options: options.clone(),
                step: None,
            },
            task: queries::Table(kind).into(),
        };
        let answer = runner.run(&job, &mut |_| ());
        let csv = queries::Table::of(&answer).unwrap();
        let expected = table(text, &outcome, kind).csv();
        assert_eq!(*csv, expected, "{}", kind.name());
    }
}

/// The launches of all kernels are those of the program, with the second half of a reduction.
#[test]
fn the_launches_of_the_kernels_add_up() {
    let text = "input x : f16[33554432]\ny = sum(x)\n";
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(Policy::Inductor));
    let kernels = table(text, &outcome, TableKind::Kernels);
    let column = kernels.head.iter().position(|&head| head == "launches");
    let launches = kernels.rows.iter().map(|row| row[column.unwrap()].parse());
    let launches: usize = launches.map(Result::<usize, _>::unwrap).sum();
    assert_eq!(launches, outcome.analysis.unwrap().fused.launches);
    assert_eq!(launches, 2);
}
