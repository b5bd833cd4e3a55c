package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// What is known of a goal is what all of the interval says.
func TestVerdict(t *testing.T) {
	goal := 0.9
	for _, test := range []struct {
		name      string
		low, high float64
		better    Better
		goal      *float64
		want      Verdict
	}{
		{"below", 0.7, 0.8, Lower, &goal, OK},
		{"up to it", 0.7, 0.9, Lower, &goal, OK},
		{"around it", 0.85, 1.2, Lower, &goal, Undecided},
		{"from it on", 0.9, 1.2, Lower, &goal, Undecided},
		{"above", 0.95, 1.2, Lower, &goal, Short},
		{"higher, above", 0.95, 1.2, Higher, &goal, OK},
		{"higher, around it", 0.7, 1.2, Higher, &goal, Undecided},
		{"higher, below", 0.7, 0.8, Higher, &goal, Short},
		{"too few values", math.Inf(-1), math.Inf(1), Lower, &goal, Undecided},
		{"too few values above", 0.1, math.Inf(1), Lower, &goal, Undecided},
		{"no goal", 5, 6, Lower, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			row := newRow("x", Estimate{Low: test.low, High: test.high}, "ratio", test.better, test.goal, "", "")
			is.New(t).Equal(row.Verdict, test.want)
		})
	}
}

func TestTableAndFile(t *testing.T) {
	is := is.New(t)
	rows := []Row{
		newRow("small", Estimate{Value: 0.95, Low: 0.92, High: 0.99, How: "median of 31, 95 % interval"}, "ratio", Lower, new(0.9), "MLX Python", "pairs"),
		newRow("call", Median([]float64{40, 41}), "ns", Lower, nil, "", "alone"),
		{Name: "job", Value: unknown(), Low: unknown(), High: unknown(), Verdict: Failed, Why: "no daemon answers"},
	}
	var out bytes.Buffer
	printTable(&out, rows)
	for _, want := range []string{"short", "<= 0.9", "? to ?", "failed: no daemon answers"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, out.String())
		}
	}
	is.Equal(failures(rows).Error(), "groups that failed: 1")
	is.NoErr(failures(rows[:2])) // a goal that is missed is no failure

	path := filepath.Join(t.TempDir(), "bench.json")
	is.NoErr(write(path, rows))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	var keys []map[string]any
	is.NoErr(json.Unmarshal(text, &keys))
	for _, key := range []string{"name", "value", "low", "high", "unit", "goal", "better", "verdict", "why", "against", "method"} {
		for i := range keys {
			if _, there := keys[i][key]; !there {
				t.Errorf("row %d has no %s", i, key)
			}
		}
	}
	is.Equal(keys[0]["verdict"], "short")
	is.Equal(keys[1]["high"], nil) // two values have no interval
	is.Equal(keys[2]["value"], nil)
}

func TestOffRow(t *testing.T) {
	is := is.New(t)
	off := func(ratios ...float64) Row { return offRow(metric{name: "x"}, "", ratios) }
	row := off(0.98, 1.02, 1.01, 0.99, 1, 1.03, 0.97)
	is.Equal(row.Verdict, OK)
	is.Equal(row.Low, Number(0))
	is.True(row.High > 2.9 && row.High < 3.1)
	row = off(0.91, 0.92, 0.93, 0.92, 0.91, 0.93, 0.92)
	is.Equal(row.Verdict, Short)
	is.True(row.Low > 6.9 && row.Low < 7.1 && row.Value > 7.9 && row.Value < 8.1)
	is.Equal(off(0.62, 1, 1.1, 0.81, 0.9, 0.7, 1.2).Verdict, Undecided)
	is.Equal(off(1, 1, 1).Verdict, Undecided) // three values say nothing
}
