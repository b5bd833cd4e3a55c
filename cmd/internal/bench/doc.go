// Command bench is `make bench`: it compares Fulmen's speed with that of what
// people use today, prints a table, and writes build/bench.json.
//
// Machines are shared and noisy, so two programs are never timed one after the
// other: both stay up, and are asked in turn, in pairs whose order alternates.
// What counts is the median of the pairs' ratios with its 95 % interval, and a
// goal is reached where the interval reaches it.
package main
