package output

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestOffsets(t *testing.T) {
	is := is.New(t)
	var o Offsets
	at := func(offset, skipped int64, data string) api.OutputPiece {
		return api.OutputPiece{Attempt: 1, Stream: api.StreamOut, OffsetBytes: offset, SkippedBytes: skipped, Data: []byte(data)}
	}
	got, fresh := o.Take(at(0, 0, "abc"))
	is.True(fresh)
	is.Equal(string(got.Data), "abc")
	_, fresh = o.Take(at(1, 0, "bc"))
	is.True(!fresh)
	got, _ = o.Take(at(2, 0, "cde"))
	is.Equal(string(got.Data), "de")
	is.Equal(got.OffsetBytes, int64(3))
	got, fresh = o.Take(at(10, 5, "k"))
	is.True(fresh)
	is.Equal(got.SkippedBytes, int64(5))
	_, fresh = o.Take(at(10, 5, "k")) // the same again
	is.True(!fresh)
	got, _ = o.Take(at(20, 15, "x")) // dropped meanwhile, and a part was seen
	is.Equal(got.SkippedBytes, int64(9))
	_, fresh = o.Take(api.OutputPiece{Attempt: 2, Stream: api.StreamOut, Data: []byte("abc")})
	is.True(fresh) // another attempt
	_, fresh = o.Take(api.OutputPiece{Attempt: 1, Notice: &api.Cause{Message: "It waits."}})
	is.True(fresh) // about the rank, and not of a stream
}

// TestEveryByteIsTakenOnce sends a stream in pieces, again and again from anywhere
// before.
func TestEveryByteIsTakenOnce(t *testing.T) {
	for seed := range testkit.Upto(t, 50) {
		random := seed.Source(1)
		whole := make([]byte, 500)
		for i := range whole {
			whole[i] = byte(random.IntN(256))
		}
		var o Offsets
		var got []byte
		for at := 0; at < len(whole); {
			if random.IntN(4) == 0 {
				at = random.IntN(at + 1) // another connection
			}
			n := min(len(whole)-at, random.IntN(40))
			p, fresh := o.Take(api.OutputPiece{OffsetBytes: int64(at), Data: whole[at : at+n]})
			if fresh {
				got = append(got, p.Data...)
			}
			at += n
		}
		if string(got) != string(whole) {
			t.Fatalf("seed %d: %d bytes became %d", seed, len(whole), len(got))
		}
	}
}
