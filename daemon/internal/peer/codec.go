package peer

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"fulmen/daemon/api"
)

// The kinds on the wire.
const (
	kindOut     = 'o'
	kindErr     = 'e'
	kindEnd     = 'z'
	kindGiven   = 'g'
	kindLast    = 'l' // Given with the end
	kindTaken   = 't'
	kindBeat    = 'b'
	kindRefused = 'x'

	headBytes   = 5
	numberBytes = 8
	// maxBody is that of a Piece; a refusal is shorter.
	maxBody = 2*numberBytes + MaxPiece
)

func (p Piece) kind() byte {
	if p.Stream == api.StreamErr {
		return kindErr
	}
	return kindOut
}

func (p Piece) appendTo(b []byte) []byte { return append(numbers(b, p.Offset, p.Skipped), p.Data...) }

func (End) kind() byte { return kindEnd }

func (e End) appendTo(b []byte) []byte { return flag(numbers(b, e.OutBytes, e.ErrBytes), e.Ended) }

func (g Given) kind() byte {
	if g.End {
		return kindLast
	}
	return kindGiven
}

func (g Given) appendTo(b []byte) []byte { return append(numbers(b, g.Offset), g.Data...) }

func (Taken) kind() byte { return kindTaken }

func (t Taken) appendTo(b []byte) []byte { return flag(numbers(b, t.Bytes), t.Ended) }

func (Beat) kind() byte { return kindBeat }

func (Beat) appendTo(b []byte) []byte { return b }

func (Refused) kind() byte { return kindRefused }

func (r Refused) appendTo(b []byte) []byte {
	text, err := json.Marshal(r.Error)
	if err != nil || len(text) > maxBody {
		text, _ = json.Marshal(api.NewError(api.ReasonInternal, ""))
	}
	return append(b, text...)
}

// encode is the whole of a message, in b's memory where it fits.
func encode(b []byte, m Message) []byte {
	b = m.appendTo(append(b[:0], m.kind(), 0, 0, 0, 0))
	binary.BigEndian.PutUint32(b[1:headBytes], uint32(len(b)-headBytes))
	return b
}

// decode reads a body. What it returns shares the body's memory; nil is a kind of
// a later version.
func decode(kind byte, body []byte) (Message, error) {
	m, isSound := parse(kind, body)
	if !isSound {
		return nil, fmt.Errorf("a message of kind %q with %d bytes makes no sense", kind, len(body))
	}
	return m, nil
}

func parse(kind byte, body []byte) (m Message, isSound bool) {
	switch kind {
	case kindOut, kindErr:
		n, data, ok := split(body, 2)
		stream := api.StreamOut
		if kind == kindErr {
			stream = api.StreamErr
		}
		return Piece{Stream: stream, Offset: n[0], Skipped: n[1], Data: data}, ok && len(data) <= MaxPiece
	case kindEnd:
		n, rest, ok := split(body, 2)
		return End{OutBytes: n[0], ErrBytes: n[1], Ended: isSet(rest)}, ok && len(rest) == 1
	case kindGiven, kindLast:
		n, data, ok := split(body, 1)
		return Given{Offset: n[0], Data: data, End: kind == kindLast}, ok && len(data) <= MaxPiece
	case kindTaken:
		n, rest, ok := split(body, 1)
		return Taken{Bytes: n[0], Ended: isSet(rest)}, ok && len(rest) == 1
	case kindBeat:
		return Beat{}, true
	case kindRefused:
		var e *api.Error
		err := json.Unmarshal(body, &e)
		return Refused{Error: e}, err == nil && e != nil
	}
	return nil, true
}

func numbers(b []byte, ns ...int64) []byte {
	for _, n := range ns {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func flag(b []byte, set bool) []byte {
	if set {
		return append(b, 1)
	}
	return append(b, 0)
}

func isSet(flag []byte) bool { return len(flag) == 1 && flag[0] != 0 }

// split takes count numbers from the beginning of a body.
func split(body []byte, count int) (n [2]int64, rest []byte, ok bool) {
	if len(body) < count*numberBytes {
		return n, nil, false
	}
	for i := range count {
		v := binary.BigEndian.Uint64(body[i*numberBytes:])
		// No sum of two such numbers overflows.
		if v > math.MaxInt64/4 {
			return n, nil, false
		}
		n[i] = int64(v)
	}
	return n, body[count*numberBytes:], true
}
