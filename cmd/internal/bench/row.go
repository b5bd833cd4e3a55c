package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"fulmen/cmd/internal/bench/stats"
)

// Better says which way a value is better.
type Better string

// The two ways.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Row is one line of the table, and of build/bench.json.
type Row struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Low and High are the ends of the 95 % interval.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Unit string  `json:"unit"`
	// Goal is absent where a value is only reported.
	Goal    *float64 `json:"goal"`
	Better  Better   `json:"better"`
	OK      bool     `json:"ok"`
	Against string   `json:"against"`
	Method  string   `json:"method"`
}

// newRow makes a row of an estimate. A goal is reached where the interval
// reaches it.
func newRow(name string, e stats.Estimate, unit string, better Better, goal *float64, against, method string) Row {
	row := Row{
		Name: name, Value: e.Median, Low: e.Low, High: e.High, Unit: unit, Goal: goal, Better: better, OK: true,
		Against: against, Method: fmt.Sprintf("%s; median of %d, 95 %% interval", method, e.Samples),
	}
	if goal != nil && better == Lower {
		row.OK = e.Low <= *goal
	}
	if goal != nil && better == Higher {
		row.OK = e.High >= *goal
	}
	return row
}

// printTable writes rows for people.
func printTable(out io.Writer, rows []Row) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tVALUE\t95 % INTERVAL\tUNIT\tGOAL\t\tAGAINST")
	for _, r := range rows {
		goal, verdict := "-", ""
		if r.Goal != nil {
			sign := map[Better]string{Lower: "<=", Higher: ">="}[r.Better]
			goal, verdict = fmt.Sprintf("%s %.4g", sign, *r.Goal), "ok"
			if !r.OK {
				verdict = "MISSED"
			}
		}
		fmt.Fprintf(table, "%s\t%.4g\t%.4g to %.4g\t%s\t%s\t%s\t%s\n", r.Name, r.Value, r.Low, r.High, r.Unit, goal, verdict, r.Against)
	}
	table.Flush()
}

// write saves rows as JSON, all or nothing.
func write(path string, rows []Row) error {
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
