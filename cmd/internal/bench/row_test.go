package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bench/stats"
)

func TestOK(t *testing.T) {
	goal := 0.9
	for _, test := range []struct {
		name      string
		low, high float64
		better    Better
		goal      *float64
		want      bool
	}{
		{"below", 0.7, 0.8, Lower, &goal, true},
		{"reaches it", 0.85, 1.2, Lower, &goal, true},
		{"above", 0.95, 1.2, Lower, &goal, false},
		{"higher, above", 0.95, 1.2, Higher, &goal, true},
		{"higher, below", 0.7, 0.8, Higher, &goal, false},
		{"no goal", 5, 6, Lower, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			row := newRow("x", stats.Estimate{Low: test.low, High: test.high}, "ratio", test.better, test.goal, "", "")
			is.New(t).Equal(row.OK, test.want)
		})
	}
}

func TestTableAndFile(t *testing.T) {
	is := is.New(t)
	goal := 0.9
	rows := []Row{
		newRow("small", stats.Estimate{Median: 0.95, Low: 0.92, High: 0.99, Samples: 31}, "ratio", Lower, &goal, "MLX Python", "pairs"),
		newRow("call", stats.Estimate{Median: 40, Low: 39, High: 41, Samples: 15}, "ns", Lower, nil, "", "alone"),
	}
	var out bytes.Buffer
	printTable(&out, rows)
	is.True(strings.Contains(out.String(), "MISSED"))
	is.True(strings.Contains(out.String(), "<= 0.9"))

	path := filepath.Join(t.TempDir(), "bench.json")
	is.NoErr(write(path, rows))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	var keys []map[string]any
	is.NoErr(json.Unmarshal(text, &keys))
	for _, key := range []string{"name", "value", "unit", "goal", "better", "ok", "against", "method"} {
		_, there := keys[1][key]
		is.True(there) // every row has every key
	}
	is.Equal(keys[0]["ok"], false)
}

func TestOffRow(t *testing.T) {
	is := is.New(t)
	spread := []float64{0.98, 1.02, 1.01, 0.99, 1, 1.03, 0.97}
	row := offRow("x", spread)
	is.True(row.OK)
	is.Equal(row.Low, 0.0)
	is.True(row.High > 2.9 && row.High < 3.1)
	slow := []float64{0.91, 0.92, 0.93, 0.92, 0.91, 0.93, 0.92}
	row = offRow("x", slow)
	is.True(!row.OK)
	is.True(row.Low > 6.9 && row.Low < 7.1 && row.Value > 7.9 && row.Value < 8.1)
}
