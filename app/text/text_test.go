package text

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/matryer/is"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes(0), "0 B"}, {Bytes(1023), "1023 B"}, {Bytes(1<<20 - 1), "1.00 MiB"}, {Bytes(1000), "1000 B"}, {Bytes(1536), "1.50 KiB"},
		{Bytes(512 << 30), "512 GiB"}, {Bytes(96<<30 + 300<<20), "96.3 GiB"}, {Bytes(1 << 62), "4.00 EiB"}, {Bytes(-2048), "-2.00 KiB"},
		{BytesPerS(819e9), "819 GB/s"}, {BytesPerS(9.9961e9), "10.0 GB/s"}, {BytesPerS(999.99e6), "1.00 GB/s"}, {BytesPerS(12), "12 B/s"},
		{TFLOPS(26.34), "26.3 TFLOPS"}, {TFLOPS(0.5), "0.50 TFLOPS"}, {TFLOPS(123.4), "123 TFLOPS"}, {TFLOPS(0.0012), "0.0012 TFLOPS"},
		{Percent(0.374), "37 %"},
		{Percent(0.125), "13 %"},
		{Percent(0.575), "57 %"}, // a little less
		{TFLOPS(49.25), "49.3 TFLOPS"},
		{BitsPerS(80e9), "80 Gb/s"}, {BitsPerS(74.83e9), "74.8 Gb/s"}, {BitsPerS(2.5e9), "2.5 Gb/s"}, {BitsPerS(100e6), "100 Mb/s"}, {BitsPerS(0), "0 b/s"},
		{Micros(9), "9 µs"}, {Micros(0.5), "0.5 µs"}, {Micros(340), "340 µs"}, {Micros(1250), "1.25 ms"}, {Micros(12500), "12.5 ms"}, {Micros(1500e3), "1.5 s"}, {Micros(2e6), "2 s"},
		{Duration(12 * time.Microsecond), "12 µs"}, {Duration(850 * time.Millisecond), "850 ms"}, {Duration(1540 * time.Millisecond), "1.5 s"},
		{Duration(59 * time.Second), "59 s"}, {Duration(185 * time.Second), "3 min 5 s"}, {Duration(2 * time.Hour), "2 h"},
		{Duration(99 * time.Hour), "4 d 3 h"}, {Duration(-time.Minute), "-1 min"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestAgo(t *testing.T) {
	is := is.New(t)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	is.Equal(Ago(now, time.Time{}), "never")
	is.Equal(Ago(now, now), "just now")
	is.Equal(Ago(now, now.Add(-3*time.Minute-300*time.Millisecond)), "3 min ago")
	is.Equal(Ago(now, now.Add(time.Hour)), "at 2026-05-01 13:00:00 UTC")
}

func TestTable(t *testing.T) {
	is := is.New(t)
	table := NewTable("NAME", "SIZE")
	table.Row("ada", "1")
	table.Row("张的 Mac", "22")
	table.Span("a line that is wider than all columns\n")
	table.Row("evil\nfulmen\x1b[2J", "")
	is.Equal(table.String(), "NAME                   SIZE\nada                    1\n张的 Mac               22\na line that is wider than all columns\\x0a\nevil\\x0afulmen\\x1b[2J\n")
	is.Equal(Width("e\u0301"), 1)
}

// A table that is too wide loses columns in its order, then breaks its cells between words,
// and at last stands as blocks; no word is lost but with its column.
func TestDraw(t *testing.T) {
	is := is.New(t)
	table := NewTable("NAME", "ID", "EMPTY", "STATE").Less("ID")
	table.Row("ada", "cpv0-cwyp", "-", "down: nobody answers for 10 s")
	table.Mark("STATE", "SIMULATED")
	draw := func(columns int) string { return table.Draw(Screen{Columns: columns}) }
	is.Equal(draw(52), "NAME  ID         STATE (SIMULATED)\nada   cpv0-cwyp  down: nobody answers for 10 s\n")
	is.Equal(draw(40), "NAME  STATE (SIMULATED)\nada   down: nobody answers for 10 s\n")
	is.Equal(draw(25), "NAME  STATE (SIMULATED)\nada   down: nobody\n      answers for 10 s\n")
	is.Equal(draw(16), "NAME         ada\nSTATE        down:\n(SIMULATED)  nobody\n             answers\n             for\n             10 s\n")
	table.Row("bob", "-", "-", "alive")
	is.Equal(draw(40), "NAME  STATE\nada   down: nobody answers for 10 s\n      SIMULATED\nbob   alive\n")
	is.Equal(WrapSentences("One two three.\n  fulmen run -- a\n  Two is here.", 9), "One two\nthree.\n  fulmen run -- a\n  Two is\n  here.")
}

func TestClean(t *testing.T) {
	is := is.New(t)
	is.Equal(Clean("plain ü 张 👍"), "plain ü 张 👍")
	is.Equal(Clean("a\u202eb\u009b2J\xff\u2028\ufffd"), `a\u202eb\x9b2J\xff\u2028`+"\ufffd")
	is.Equal(CleanLines("a\n\tb\r"), "a\n\tb\\x0d")
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b]0;title\x07")
	f.Add("a\nb\u200f\xc3")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is no UTF-8", got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q holds %U", got, r)
			}
		}
		if Clean(got) != got {
			t.Fatalf("%q changes when cleaned again", got)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add("\x7f\u009b\u202e\U000e0001")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		for _, write := range []func(*bytes.Buffer) error{
			func(b *bytes.Buffer) error { return JSON(b, s) }, func(b *bytes.Buffer) error { return JSONLine(b, s) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			var back string
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != s {
				t.Fatalf("%q came back as %q: %v", s, back, err)
			}
			if line := strings.TrimSuffix(b.String(), "\n"); Clean(line) != line {
				t.Fatalf("%q would act on a terminal", line)
			}
		}
	})
}
