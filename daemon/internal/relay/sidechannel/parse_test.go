package sidechannel

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"github.com/matryer/is"
)

// all is a handshake as gathers see it: what the rank sends, and gets back, in turn.
func walk(g *gather, rounds ...[]byte) (joinedAfter int) {
	for i, mine := range rounds {
		g.sent(mine)
		back := bytes.Repeat(mine, g.size)
		for len(back) > 0 { // in whatever pieces
			n := min(len(back), 5)
			g.got(back[:n])
			back = back[n:]
		}
		if g.joined && joinedAfter == 0 {
			joinedAfter = i + 1
		}
	}
	return joinedAfter
}

// The end of a handshake is recognised in a mesh and in a ring, however many
// cables and waits there are, and never before it.
func TestTheEndOfAHandshakeIsRecognised(t *testing.T) {
	count, wait := []byte{2, 0, 0, 0}, make([]byte, 4)
	described, one := bytes.Repeat([]byte{7}, 56), make([]byte, 28)
	for name, c := range map[string]struct {
		rounds [][]byte
		after  int
	}{
		"a mesh":                        {[][]byte{count, described, wait, wait}, 4},
		"a mesh of versions before":     {[][]byte{count, described, wait}, 0}, // once it rests
		"a ring":                        {[][]byte{count, described, count, described, wait, wait}, 6},
		"a ring of one cable":           {[][]byte{{1, 0, 0, 0}, one, {1, 0, 0, 0}, one, wait, wait}, 6},
		"waits that are not together":   {[][]byte{count, described, wait, count, wait}, 0},
		"before the wait":               {[][]byte{count, described}, 0},
		"between the sides of a ring":   {[][]byte{count, described, count}, 0},
		"a wait before any description": {[][]byte{wait, count, described}, 0},
		"waits before any description":  {[][]byte{wait, wait, count, described}, 0},
	} {
		g := &gather{size: 2}
		if after := walk(g, c.rounds...); after != c.after {
			t.Errorf("%s: joined after %d of %d", name, after, len(c.rounds))
		}
	}
}

func TestFramesComeBackAsTheyWere(t *testing.T) {
	is := is.New(t)
	data := bytes.Repeat([]byte("0123456789"), 5000)
	stream := bytes.NewBuffer(appendFrames(appendFrames(appendFrames(nil, frameHere, nil), frameData, data), frameEnd, nil))
	var kinds []byte
	var all []byte
	buffer := make([]byte, maxData)
	for {
		kind, part, err := readFrame(stream, buffer)
		if err == io.EOF {
			break
		}
		is.NoErr(err)
		kinds, all = append(kinds, kind), append(all, part...)
	}
	is.Equal(all, data)
	is.Equal(string(kinds), "hdddde")
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte{'h', 0, 0, 'd', 0, 1, 9, 'e', 0, 0})
	f.Add([]byte{'d', 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		from, buffer := bytes.NewReader(data), make([]byte, maxData)
		for {
			kind, part, err := readFrame(from, buffer)
			if err != nil {
				return
			}
			if (kind == frameData) == (len(part) == 0) {
				t.Fatalf("%q with %d bytes", kind, len(part))
			}
			if again := appendFrames(nil, kind, part); !bytes.Contains(data, again) {
				t.Fatalf("%q came of %q", again, data)
			}
		}
	})
}

// No bytes whatever take a rank for joined that has not got back a wait.
func FuzzGather(f *testing.F) {
	f.Add([]byte{4, 8, 56, 112, 4, 8}, uint8(2))
	f.Fuzz(func(t *testing.T, sizes []byte, size uint8) {
		g := &gather{size: int(size%8) + 2}
		big := false
		for i, n := range sizes {
			part := make([]byte, n)
			if i%2 == 0 {
				g.sent(part)
				big = big || n > numberBytes
			} else {
				g.got(part)
			}
			if g.joined && !big {
				t.Fatalf("joined without a description: %v of %d", sizes[:i+1], g.size)
			}
		}
	})
}

// Whoever holds a group up is named from what the ranks have sent and got, whatever that
// is: never one that has sent as much as any other, and nobody twice.
func FuzzOwing(f *testing.F) {
	f.Add([]byte{0, 4, 1, 4, 9, 4, 0, 12, 8, 12}, uint8(3))
	f.Add([]byte{0, 4, 1, 4, 16, 5}, uint8(2))
	f.Fuzz(func(t *testing.T, steps []byte, size uint8) {
		flows := make([]gather, int(size%4)+1)
		for i := range flows {
			flows[i].size = len(flows) + 1
		}
		for i := 0; i+1 < len(steps); i += 2 {
			g := &flows[int(steps[i]%8)%len(flows)]
			if part := make([]byte, steps[i+1]); steps[i]&8 == 0 {
				g.sent(part)
			} else {
				g.got(part)
			}
		}
		named := owing(flows)
		unknown := slices.ContainsFunc(flows, func(g gather) bool { return g.unknown })
		if unknown != (len(named) == 0) || !slices.IsSorted(named) || len(slices.Compact(slices.Clone(named))) != len(named) {
			t.Fatalf("%v of %+v", named, flows)
		}
		for _, rank := range named {
			if rank < 0 || rank > len(flows) || rank == 0 && len(named) > 1 {
				t.Fatalf("%v of %+v", named, flows)
			}
			if rank == 0 {
				continue
			}
			own, ahead := flows[rank-1], false
			for _, g := range flows {
				if g.done < own.done {
					t.Fatalf("%v of %+v", named, flows)
				}
				ahead = ahead || g.done > own.done || g.up > own.up
			}
			if !ahead && own.up > 0 {
				t.Fatalf("%v of %+v", named, flows)
			}
		}
	})
}

// What is no number of a rank is never taken for one.
func FuzzNumber(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0})
	f.Add([]byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, reported []byte) {
		rank, whole := numberOf(reported)
		if whole != (len(reported) >= numberBytes) || whole && !bytes.Equal(binary.LittleEndian.AppendUint32(nil, uint32(int32(rank))), reported[:numberBytes]) {
			t.Fatalf("%d, %t of %v", rank, whole, reported)
		}
	})
}

// Who is waited for, as the relay sees it of three others.
func TestWhoOwes(t *testing.T) {
	is := is.New(t)
	begun := func(done, last, up int) gather { return gather{size: 4, done: done, last: last, up: up} }
	for _, c := range []struct {
		what  string
		flows []gather
		want  []int
	}{
		{"one has said its number and no more", []gather{begun(0, 0, 4), begun(0, 0, 0), begun(0, 0, 4)}, []int{2}},
		{"one is in the midst of its queue pairs", []gather{begun(1, 4, 112), begun(1, 4, 28), begun(1, 4, 112)}, []int{2}},
		{"nobody goes on yet", []gather{begun(2, 112, 0), begun(2, 112, 0), begun(2, 112, 0)}, []int{1, 2, 3}},
		{"all have sent, nothing came back", []gather{begun(1, 4, 112), begun(1, 4, 112), begun(1, 4, 112)}, []int{0}},
		{"some have got all, one has not", []gather{begun(2, 112, 0), begun(1, 4, 112), begun(2, 112, 4)}, []int{0}},
		{"what is no gathering", []gather{{unknown: true}, begun(0, 0, 0), begun(0, 0, 4)}, nil},
	} {
		t.Run(c.what, func(t *testing.T) { is.Equal(owing(c.flows), c.want) })
	}
}
