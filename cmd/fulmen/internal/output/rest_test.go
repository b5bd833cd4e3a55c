package output

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func printed(rank int, stream api.OutputStream, text string) api.OutputPiece {
	return api.OutputPiece{Attempt: 1, Rank: rank, Stream: stream, Data: []byte(text)}
}

func TestWhatIsMissing(t *testing.T) {
	is := is.New(t)
	var r Rest
	both := []RankOf{{1, 0}, {1, 1}}
	is.Equal(Sorted(r.Missing(both)), both)
	is.Equal(len(r.Missing(nil)), 0)
	r.Take(printed(0, api.StreamOut, "x"))
	r.Take(api.OutputPiece{Attempt: 1, Rank: 1, Notice: &api.Cause{Reason: api.ReasonOutputWaits}})
	r.Take(api.OutputPiece{Attempt: 1, Rank: 0, Complete: true})
	is.Equal(r.Missing(both)[RankOf{1, 1}].Reason, api.ReasonOutputWaits)
	is.Equal(Sorted(r.Missing(both)), []RankOf{{1, 1}})
	is.Equal(Sorted(r.Missing(nil)), []RankOf{{1, 1}})
	r.Take(api.OutputPiece{Attempt: 1, Rank: 1, Complete: true})
	is.Equal(len(r.Missing(both)), 0)
}

func TestTheLastLines(t *testing.T) {
	is := is.New(t)
	var all strings.Builder
	for n := range 30 {
		fmt.Fprintf(&all, "line %d\n", n)
	}
	text := all.String()
	want := text[strings.Index(text, "line 10\n"):]
	for _, size := range []int{1, 7, len(text)} {
		var r Rest
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			r.Take(printed(1, api.StreamErr, rest[:min(size, len(rest))]))
		}
		is.Equal(len(r.Last(RankOf{1, 1})), 0) // they are on the screen
		r.Take(printed(1, api.StreamOut, "elsewhere\n"))
		is.Equal(len(r.Last(RankOf{1, 1})), 0)
		r.Take(printed(0, api.StreamErr, "of another\n"))
		is.Equal(string(r.Last(RankOf{1, 1})), want)
		is.Equal(len(r.Last(RankOf{1, 2})), 0)
	}
	var r Rest
	r.Take(printed(1, api.StreamErr, strings.Repeat("x", 3*lastBytes)))
	r.Together = true
	r.Take(printed(1, api.StreamOut, "of the same\n"))
	is.Equal(len(r.Last(RankOf{1, 1})), lastBytes)
	r.Take(printed(1, api.StreamErr, "\nunfinished"))
	r.Take(printed(0, api.StreamErr, "x"))
	is.True(strings.HasSuffix(string(r.Last(RankOf{1, 1})), "x\nunfinished"))
}
