package output

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func piece(rank int, stream api.OutputStream, data string) api.OutputPiece {
	return api.OutputPiece{Attempt: 1, Rank: rank, Stream: stream, Data: []byte(data)}
}

func out(rank int, data string) api.OutputPiece { return piece(rank, api.StreamOut, data) }

func errs(rank int, data string) api.OutputPiece { return piece(rank, api.StreamErr, data) }

func TestLines(t *testing.T) {
	note := api.OutputPiece{Rank: -1}
	for _, c := range []struct {
		name      string
		options   Options
		raw       int
		pieces    []api.OutputPiece
		out, errs string
	}{
		{"whole lines", Options{Prefix: true}, -1, []api.OutputPiece{out(0, "a\nb\n"), out(1, "c\n")}, "[0] a\n[0] b\n[1] c\n", ""},
		{"a line in pieces", Options{Prefix: true}, -1, []api.OutputPiece{out(0, "a"), out(1, "b\n"), out(0, "c\n")}, "[1] b\n[0] ac\n", ""},
		{"no newline at the end", Options{Prefix: true}, -1, []api.OutputPiece{out(0, "a"), out(1, "b")}, "", ""}, // either may come first
		{"the streams apart", Options{Prefix: true}, -1, []api.OutputPiece{out(0, "a\n"), errs(0, "b\n")}, "[0] a\n", "[0] b\n"},
		{"without prefix", Options{}, -1, []api.OutputPiece{out(0, "a"), out(1, "b\n"), out(0, "c\n")}, "b\nac\n", ""},
		{"through", Options{Through: true}, -1, []api.OutputPiece{out(0, "a"), errs(0, "x"), out(0, "\xffb\r")}, "a\xffb\r", "x"},
		{"through, one terminal", Options{Through: true, Together: true}, -1, []api.OutputPiece{out(0, "a"), errs(0, "x")}, "a\n", "x"},
		{"empty lines", Options{Prefix: true}, -1, []api.OutputPiece{out(3, "\n\n")}, "[3] \n[3] \n", ""},
		{"carriage returns of files stay", Options{Prefix: true}, -1, []api.OutputPiece{out(0, "a\rb\r\n")}, "[0] a\rb\r\n", ""},
		{"colours, and a line drawn over", Options{Prefix: true, OutTerminal: true}, -1, []api.OutputPiece{out(1, "a\rb\r\nc\n")},
			"\x1b[32m[1]\x1b[0m a\r\x1b[32m[1]\x1b[0m b\r\n\x1b[32m[1]\x1b[0m c\n", ""},
		{"dropped", Options{Prefix: true}, -1, []api.OutputPiece{out(0, "a"), {Attempt: 1, Stream: api.StreamOut, SkippedBytes: 12, Data: []byte("z\n")}},
			"[0] a\n[0] z\n", "… 12 bytes that rank 0 printed are not kept …\n"},
		{"why output waits", Options{Prefix: true, Together: true, OutTerminal: true}, -1,
			[]api.OutputPiece{{Attempt: 1, Rank: 1, Notice: &api.Cause{Message: "Its node does not answer.\x1b[2J"}}, out(1, "b\n")},
			"\x1b[32m[1]\x1b[0m b\n", "fulmen: rank 1: Its node does not answer.\\x1b[2J\n"},
		{"raw", Options{Prefix: true, Together: true}, 0, []api.OutputPiece{out(0, ">>> "), out(1, "b\n"), out(0, "x\r\n")}, ">>> \r\n[1] b\r\nx\r\n", ""},
		{"what a terminal would obey", Options{Through: true, OutTerminal: true}, -1,
			[]api.OutputPiece{out(0, "a\x1b]52;c;ZXZpbA==\x07b\x1b[2J\x9b2J\u009d\u202e\x7fé\t\r\n")},
			"a\\x1b]52;c;ZXZpbA==\\x07b\\x1b[2J\\x9b2J\\x9d\\u202e\\x7fé\t\r\n", ""},
		{"in pieces", Options{Through: true, OutTerminal: true}, -1,
			[]api.OutputPiece{out(0, "\x1b"), out(0, "]0;t\xc2"), out(0, "\x9c\xc3"), out(0, "\xa9\x1b["), out(0, "31"), out(0, "mred\n"), out(0, "\x1b[3")},
			"\\x1b]0;t\\x9cé\x1b[31mred\x1b[0m\n\\x1b[3\n", ""},
		{"colours end with their line", Options{Prefix: true, OutTerminal: true}, -1,
			[]api.OutputPiece{out(1, "\x1b[1;38:5:9mb\nc\x1b[8m\rd \x1b[7me\x1b[0m\n"), out(1, "\x1b[8mx")},
			"\x1b[32m[1]\x1b[0m \x1b[1;38:5:9mb\x1b[0m\n\x1b[32m[1]\x1b[0m c\x1b[8m\x1b[0m\r\x1b[32m[1]\x1b[0m d \x1b[7me\x1b[0m\n" +
				"\x1b[32m[1]\x1b[0m \x1b[8mx\x1b[0m\n", ""},
		{"a colour does not reach what others say", Options{Through: true, Together: true, OutTerminal: true, ErrTerminal: true}, -1,
			[]api.OutputPiece{out(0, "\x1b[8mx"), note}, "\x1b[8mx\x1b[0m\n", "note\n"},
		{"no colour without an end", Options{Through: true, OutTerminal: true}, -1,
			[]api.OutputPiece{out(0, "\x1b["+strings.Repeat("1;", 40)+"m\n")}, "\\x1b[" + strings.Repeat("1;", 40) + "m\n", ""},
		{"standard error too", Options{Through: true, ErrTerminal: true}, -1, []api.OutputPiece{errs(0, "\x1bc\n"), out(0, "\x1bc\n")}, "\x1bc\n", "\\x1bc\n"},
		{"a file gets every byte", Options{Through: true}, -1, []api.OutputPiece{out(0, "\x1b]52;c;x\x07\x9b\xc2")}, "\x1b]52;c;x\x07\x9b\xc2", ""},
		{"a terminal of its own", Options{Verbatim: true, Prefix: true, OutTerminal: true}, -1,
			[]api.OutputPiece{out(0, "\x1b[2J\n"), out(1, "\x1b[2J\n")}, "\x1b[31m[0]\x1b[0m \x1b[2J\n\x1b[32m[1]\x1b[0m \\x1b[2J\n", ""},
		{"in raw mode", Options{Prefix: true, Together: true, OutTerminal: true}, 0,
			[]api.OutputPiece{out(0, "\x1b[2J"), out(1, "\x1b[2J\n")}, "\x1b[2J\r\n\x1b[32m[1]\x1b[0m \\x1b[2J\r\n", ""},
		{"a note", Options{Through: true, Together: true, OutTerminal: true}, -1, []api.OutputPiece{out(0, "a"), note}, "a\n", "note\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			var to, problems bytes.Buffer
			c.options.Out, c.options.Err, c.options.Pause = &to, &problems, time.Hour
			l := New(c.options)
			l.Raw(c.raw)
			for _, p := range c.pieces {
				if p.Rank < 0 {
					l.Note("note")
					continue
				}
				is.NoErr(l.Write(p))
			}
			is.NoErr(l.Close())
			if c.name == "no newline at the end" {
				is.True(to.String() == "[0] a\n[1] b" || to.String() == "[1] b\n[0] a")
				return
			}
			is.Equal(to.String(), c.out)
			is.Equal(problems.String(), c.errs)
		})
	}
}

func TestAnUnfinishedLineIsShownSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var to bytes.Buffer
		l := New(Options{Out: &to, Err: &to, Prefix: true, Together: true})
		shown := func() string {
			l.mu.Lock()
			defer l.mu.Unlock()
			return to.String()
		}
		is.NoErr(l.Write(out(0, "ready? ")))
		time.Sleep(DefaultPause - 1)
		synctest.Wait()
		is.Equal(shown(), "")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.Equal(shown(), "[0] ready? ")
		is.NoErr(l.Write(out(0, "yes\n"))) // continued
		is.Equal(shown(), "[0] ready? yes\n")
		is.NoErr(l.Write(out(0, "a")))
		time.Sleep(DefaultPause)
		synctest.Wait()
		is.NoErr(l.Write(out(1, "b\n"))) // not in the middle of it
		is.NoErr(l.Write(out(0, "c\n")))
		is.NoErr(l.Close())
		is.Equal(shown(), "[0] ready? yes\n[0] a\n[1] b\n[0] c\n")
	})
}

func TestALongLineIsNotKept(t *testing.T) {
	is := is.New(t)
	var to bytes.Buffer
	l := New(Options{Out: &to, Err: &to, Prefix: true, Pause: time.Hour})
	for range 4 {
		is.NoErr(l.Write(out(0, strings.Repeat("x", maxPartial/2))))
	}
	is.Equal(to.Len(), len("[0] ")+2*maxPartial)
}

type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestAnErrorOfTheWriterIsSaid(t *testing.T) {
	is := is.New(t)
	l := New(Options{Out: &full{9}, Err: &full{9}, Prefix: true})
	is.NoErr(l.Write(out(0, "1234\n")))
	is.True(l.Write(out(0, "1\n")) != nil)
	is.True(l.Close() != nil)
}

// prefixed is a line with its rank.
var prefixed = regexp.MustCompile(`^\[(\d+)\] (.*)$`)

// TestNothingIsLost gives random pieces of random lines, cut anywhere, and takes
// apart what was written: every line is whole and has the right rank, and each
// rank's lines are complete and in order.
func TestNothingIsLost(t *testing.T) {
	for seed := range testkit.Upto(t, 200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			is := is.New(t)
			random := seed.Source(7)
			var to bytes.Buffer
			l := New(Options{Out: &to, Err: &to, Prefix: true, Together: true, Pause: time.Hour})
			ranks := 1 + random.IntN(5)
			rest := make([]string, ranks)
			want := make([][]string, ranks)
			for r := range ranks {
				for n := range random.IntN(20) {
					line := fmt.Sprintf("r%d-%d%s", r, n, strings.Repeat("é", random.IntN(4)))
					want[r] = append(want[r], line)
					rest[r] += line + "\n"
				}
			}
			for strings.Join(rest, "") != "" {
				r := random.IntN(ranks)
				n := min(len(rest[r]), 1+random.IntN(12))
				is.NoErr(l.Write(out(r, rest[r][:n])))
				rest[r] = rest[r][n:]
			}
			is.NoErr(l.Close())
			got := make([][]string, ranks)
			for line := range strings.Lines(to.String()) {
				parts := prefixed.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
				is.True(parts != nil) // it has a rank
				var r int
				fmt.Sscan(parts[1], &r)
				got[r] = append(got[r], parts[2])
			}
			is.Equal(got, want)
		})
	}
}

// FuzzLines holds every order of pieces and pauses to: the bytes of each source
// are all there in their order, and only line breaks are added.
func FuzzLines(f *testing.F) {
	f.Add([]byte("\x00abc\x01d\n\x02e\r\n\x03"), false)
	f.Fuzz(func(t *testing.T, script []byte, terminal bool) {
		var got [4]bytes.Buffer
		var want [4]bytes.Buffer
		var all bytes.Buffer
		l := New(Options{Out: &all, Err: &all, Prefix: true, Together: true, OutTerminal: terminal, ErrTerminal: terminal, Pause: time.Hour})
		for i, c := range script {
			rank := int(c & 3)
			text := bytes.ReplaceAll(script[i:min(len(script), i+int(c>>2&7))], []byte("["), nil)
			text = bytes.ReplaceAll(text, []byte("\x1b"), nil)
			_ = l.Write(out(rank, string(text)))
			want[rank].Write(text)
			if c&0x80 != 0 {
				l.mu.Lock()
				l.flush(source{1, rank, api.StreamOut})
				l.mu.Unlock()
			}
		}
		_ = l.Close()
		plain := regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAll(all.Bytes(), nil)
		for _, part := range regexp.MustCompile(`\[[0-3]\] [^\[]*`).FindAll(plain, -1) {
			got[part[1]-'0'].Write(part[4:])
		}
		for r := range got {
			if a, b := strings.ReplaceAll(got[r].String(), "\n", ""), strings.ReplaceAll(want[r].String(), "\n", ""); a != b {
				t.Fatalf("rank %d: %q became %q", r, b, a)
			}
		}
	})
}

// However it comes in pieces, nothing is left that a terminal would obey but
// colours, and the same is shown.
func FuzzClean(f *testing.F) {
	f.Add([]byte("a\x1b]52;c;x\x07\u009b2J\x9d\x1b[31mr\x1b[0m\r\n\xc3"), uint64(1))
	f.Add([]byte("\x1b[\x1b[1;1m\x1b[8m\u202e"), uint64(7))
	colours := regexp.MustCompile("\x1b\\[[0-9;:]*m")
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		show := func(cut func(left int) int) string {
			var b bytes.Buffer
			l := New(Options{Out: &b, Err: &b, Through: true, OutTerminal: true})
			for at := 0; at < len(data); {
				n := cut(len(data) - at)
				if l.Write(out(0, string(data[at:at+n]))) != nil {
					t.Fatal("not written")
				}
				at += n
			}
			if l.Close() != nil {
				t.Fatal("not written")
			}
			return b.String()
		}
		whole := show(func(left int) int { return left })
		chance := testkit.Seed(seed).Source(0)
		if pieces := show(func(left int) int { return 1 + chance.IntN(left) }); pieces != whole {
			t.Fatalf("%q in pieces, %q as a whole", pieces, whole)
		}
		for _, r := range colours.ReplaceAllString(whole, "") {
			if r != '\n' && r != '\r' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%q holds %U", whole, r)
			}
		}
		if !utf8.ValidString(whole) {
			t.Fatalf("%q is no UTF-8", whole)
		}
	})
}
