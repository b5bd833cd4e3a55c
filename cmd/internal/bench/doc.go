// Command bench is `make bench`: it compares Fulmen's speed with that of what
// people use today, prints a table, and writes build/bench.json.
//
// Machines are shared and noisy, so two programs are never timed one after the
// other: both are asked in turn, in pairs whose order alternates.
// What counts is the median of the pairs' ratios with its 95 % interval. A goal
// is met where the whole interval meets it and missed where none of it does;
// while it is neither, the measurement goes on, as long as its group has time.
//
// Rows are measured in groups. Each has a time of its own and fails alone; the
// table is printed whatever happened.
package main
