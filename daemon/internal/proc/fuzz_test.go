package proc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func FuzzOutput(f *testing.F) {
	f.Add([]byte("one\ntwo"), 3, 1)
	f.Add([]byte("x"), 9000, 700)
	f.Fuzz(func(t *testing.T, piece []byte, times, step int) {
		whole := bytes.Repeat(piece, max(0, min(times, 200_000/(len(piece)+1))))
		var c capture
		for rest := whole; len(rest) > 0; {
			n := min(max(step, 1), len(rest))
			if wrote, err := c.Write(rest[:n]); wrote != n || err != nil {
				t.Fatal(wrote, err)
			}
			rest = rest[n:]
		}
		want := string(whole)
		if dropped := len(whole) - headBytes - tailBytes; dropped > 0 {
			want = fmt.Sprintf("%s\n[%d bytes left out]\n%s", whole[:headBytes], dropped, whole[len(whole)-tailBytes:])
		}
		if got := c.String(); got != want {
			t.Fatalf("not the beginning and the end: %q", got)
		}
	})
}

func FuzzExamine(f *testing.F) {
	f.Add("fatal error: unexpected signal\n[signal SIGSEGV: segmentation violation code=0x1]\n")
	f.Add("SIGABRT: abort\nPC=0x7f m=0 sigcode=18446744073709551610\n")
	f.Add("dyld[1]: Library not loaded: @rpath/libmlx.dylib\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		e := examine(text)
		if !printable(e.line) || e.signal != "" && !strings.HasPrefix(e.signal, "SIG") {
			t.Fatalf("%+v", e)
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31m\u202eb\r\n\xff", 5)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(2, min(limit, 1000))
		out := clean(s, limit)
		if !printable(out) || utf8.RuneCountInString(out) > limit || out != strings.TrimSpace(out) {
			t.Fatalf("clean(%q, %d) = %q", s, limit, out)
		}
	})
}

func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// FuzzListen gives a listener any stream: it must read to the end and keep no
// more than it promises.
func FuzzListen(f *testing.F) {
	f.Add([]byte(`{"t":"progress","command":"gpu","progress":{"stage":"x","done_ratio":0.5,"elapsed_s":1}}` + "\n" + `{"t":"result","command":"gpu","value":{}}` + "\nrest"))
	f.Add([]byte(`{"t":"error","error":null}`))
	f.Fuzz(func(t *testing.T, stream []byte) {
		l := newListener(func() time.Duration { return 0 })
		r := bytes.NewReader(stream)
		l.listen(r)
		if r.Len() != 0 {
			t.Fatal("not read to the end")
		}
		var record Record
		broken := l.notify(&record)
		concluded := false
		select {
		case <-l.concluded:
			concluded = true
		default:
		}
		if concluded != (broken != nil || record.Word != nil) {
			t.Fatal("spoke without a word, or a word without speaking")
		}
		if !printable(record.Doing) || len(record.Logs) > maxLogs {
			t.Fatal("kept what it must not")
		}
	})
}
