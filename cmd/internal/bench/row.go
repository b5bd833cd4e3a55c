package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"text/tabwriter"
)

// Better says which way a value is better.
type Better string

// The two ways.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Verdict is what is known of a goal; empty where there is none.
type Verdict string

// The verdicts.
const (
	OK          Verdict = "ok"           // the whole interval meets the goal
	Short       Verdict = "short"        // none of it does
	Undecided   Verdict = "undecided"    // some of it does
	Failed      Verdict = "failed"       // Why says of what the group did
	NotMeasured Verdict = "not measured" // Why says what is missing here
)

// Number is null in JSON where it is not known.
type Number float64

// MarshalJSON writes numbers that JSON has.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.isUnknown() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n Number) isUnknown() bool { return math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) }

func (n Number) String() string {
	if n.isUnknown() {
		return "?"
	}
	return fmt.Sprintf("%.4g", float64(n))
}

func unknown() Number { return Number(math.NaN()) }

// Row is one line of the table, and of build/bench.json.
type Row struct {
	Name  string `json:"name"`
	Value Number `json:"value"`
	// Low and High are the ends of the interval; Method says which.
	Low  Number `json:"low"`
	High Number `json:"high"`
	Unit string `json:"unit"`
	// Goal is absent where a value is only reported.
	Goal    *float64 `json:"goal"`
	Better  Better   `json:"better"`
	Verdict Verdict  `json:"verdict"`
	Why     string   `json:"why"`
	Against string   `json:"against"`
	Method  string   `json:"method"`
}

// newRow makes a row of an estimate.
func newRow(name string, e Estimate, unit string, better Better, goal *float64, against, method string) Row {
	return Row{
		Name: name, Value: Number(e.Value), Low: Number(e.Low), High: Number(e.High), Unit: unit, Goal: goal, Better: better,
		Verdict: verdict(e.Low, e.High, better, goal), Against: against, Method: method + "; " + e.How,
	}
}

// verdict holds an interval against a goal.
func verdict(low, high float64, better Better, goal *float64) Verdict {
	if goal == nil {
		return ""
	}
	best, worst := low, high
	meets := func(value float64) bool { return value <= *goal }
	if better == Higher {
		best, worst = high, low
		meets = func(value float64) bool { return value >= *goal }
	}
	switch {
	case meets(worst):
		return OK
	case !meets(best):
		return Short
	}
	return Undecided
}

// printTable writes rows for people.
func printTable(out io.Writer, rows []Row) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tVALUE\tINTERVAL\tUNIT\tGOAL\t\tAGAINST")
	for _, r := range rows {
		if r.Why != "" {
			fmt.Fprintf(table, "%s\t-\t-\t-\t-\t%s: %s\t\n", r.Name, r.Verdict, r.Why)
			continue
		}
		goal := "-"
		if r.Goal != nil {
			goal = fmt.Sprintf("%s %.4g", map[Better]string{Lower: "<=", Higher: ">="}[r.Better], *r.Goal)
		}
		fmt.Fprintf(table, "%s\t%v\t%v to %v\t%s\t%s\t%s\t%s\n", r.Name, r.Value, r.Low, r.High, r.Unit, goal, r.Verdict, r.Against)
	}
	table.Flush()
}

// failures is an error where a group failed.
func failures(rows []Row) error {
	count := 0
	for _, r := range rows {
		if r.Verdict == Failed {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("groups that failed: %d", count)
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
