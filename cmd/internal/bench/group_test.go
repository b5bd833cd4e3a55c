package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// found is a row of a group that measured something.
func found(name string) Row { return newRow(name, Exactly(1), "", Lower, nil, "", "") }

// A group that fails, panics, takes too long or never ends costs no other its rows, nor itself those that it had.
func TestGroupsFailAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		never := make(chan struct{})
		groups := []group{
			{"fails", time.Minute, func(b *run) error {
				b.rows = append(b.rows, found("before"))
				return errors.New("no daemon answers\nand its log")
			}},
			{"panics", time.Minute, func(*run) error { var rows []Row; _ = rows[1]; return nil }},
			{"waits", time.Minute, func(b *run) error { return b.wait(time.Hour) }},
			{"is killed", time.Minute, func(b *run) error { <-b.ctx.Done(); return errors.New("signal: killed") }},
			{"hangs", time.Minute, func(*run) error { <-never; return nil }},
			{"lacks", time.Minute, func(*run) error { return errNotMeasured("no Chromium here") }},
			{"works", time.Minute, func(b *run) error { b.rows = append(b.rows, found("last")); return nil }},
		}
		var reported bytes.Buffer
		rows := measure(t.Context(), run{out: &reported}, groups)
		close(never)
		want := []struct{ name, reports string }{
			{"before", ": "}, {"fails", "failed: no daemon answers"}, {"panics", "failed: panic: runtime error: index out of range [1] with length 0"},
			{"waits", "failed: not done within 1m0s"}, {"is killed", "failed: not done within 1m0s: signal: killed"}, {"hangs", "failed: not done within 1m0s: it does not end"},
			{"lacks", "not measured: no Chromium here"}, {"last", ": "},
		}
		is.Equal(len(rows), len(want))
		for i, row := range rows {
			is.Equal(row.Name, want[i].name)
			is.Equal(string(row.Verdict)+": "+row.Why, want[i].reports)
		}
		is.Equal(failures(rows).Error(), "groups that failed: 5")
		is.True(strings.Contains(reported.String(), "bench: 1 of 7, fails: failed: no daemon answers\nand its log")) // all of it, for whoever mends it
	})
}

// After an interrupt nothing more is measured, and the table is complete all the same.
func TestAnInterruptEndsAll(t *testing.T) {
	is := is.New(t)
	ctx, interrupt := context.WithCancel(t.Context())
	wait := func(b *run) error { interrupt(); return b.wait(time.Hour) }
	rows := measure(ctx, run{out: &bytes.Buffer{}}, []group{{"a", time.Minute, wait}, {"b", time.Minute, wait}})
	is.Equal(len(rows), 2)
	is.Equal(rows[1].Why, context.Canceled.Error())
}

func TestProgressHasTheTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported bytes.Buffer
		first := func(b *run) error { b.report("one"); err := b.wait(50 * time.Second); b.report("two"); return err }
		measure(t.Context(), run{out: &reported}, []group{{"a", time.Minute, first}, {"b", 90 * time.Second, func(b *run) error { b.report("three"); return nil }}})
		is.New(t).Equal(reported.String(), "bench: 1 of 2, a: one; at most 2 min 30 s left\nbench: 1 of 2, a: two; at most 1 min 40 s left\nbench: 2 of 2, b: three; at most 1 min 30 s left\n")
	})
}

// sampled measures a value a second, and gives the rows and how many values there were.
func sampled(t *testing.T, b *run, within time.Duration, value func(n int) float64) (rows []Row, count int) {
	t.Helper()
	b.ctx, b.out = t.Context(), &bytes.Buffer{}
	var values []float64
	err := b.sample("x", least, within, func(n int) error {
		values = append(values, value(n))
		return b.wait(time.Second)
	}, func() []Row { return []Row{newRow("x", Median(values), "", Lower, new(10.0), "", "")} })
	is.New(t).NoErr(err)
	return b.rows, len(values)
}

// A row is measured on until it is decided, or its time is over.
func TestMeasuredUntilDecided(t *testing.T) {
	for _, test := range []struct {
		name   string
		within time.Duration
		value  func(n int) float64
		want   Verdict
		least  int
		most   int
	}{
		{"at once", time.Hour, func(int) float64 { return 9 }, OK, least, least},
		{"missed at once", time.Hour, func(int) float64 { return 11 }, Short, least, least},
		{"later", time.Hour, func(n int) float64 {
			if n < least {
				return float64(8 + 4*(n%2))
			}
			return 9
		}, OK, least + 1, 100},
		{"never", time.Minute, func(n int) float64 { return float64(8 + 4*(n%2)) }, Undecided, 58, 60},
		{"no time for enough", 3 * time.Second, func(int) float64 { return 9 }, Undecided, 2, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rows, count := sampled(t, &run{}, test.within, test.value)
				if len(rows) != 1 || rows[0].Verdict != test.want || count < test.least || count > test.most {
					t.Errorf("%d values, %+v", count, rows)
				}
			})
		})
	}
}

func TestShortestIsOnce(t *testing.T) {
	rows, count := sampled(t, &run{shortest: true}, time.Hour, func(int) float64 { return 9 })
	is := is.New(t)
	is.Equal(count, 1)
	is.Equal(len(rows), 1)
}

func TestAllGroupsTogether(t *testing.T) {
	total := time.Duration(0)
	for _, g := range groups() {
		total += g.within
	}
	if most := 25 * time.Minute; total > most {
		t.Errorf("make bench may take %v, and %v is the most", total, most)
	}
}
