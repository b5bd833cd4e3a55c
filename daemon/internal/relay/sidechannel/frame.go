package sidechannel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// What goes between the nodes is framed: a byte that says what it is, the number of
// bytes that follow in two, big-endian, and these. Only data has any.
const (
	frameHere      = 'h' // from a rank's node: the program has called and is held
	frameGone      = 'g' // from a rank's node: the held caller is dead
	frameListens   = 'l' // from rank 0's node: its program listens
	frameConnected = 'c' // from rank 0's node: its program is connected to
	frameData      = 'd' // both ways
	frameEnd       = 'e' // both ways: the program has closed its end

	frameHead = 3
	maxData   = 16 << 10
)

// errFrame is a frame that no node of this version writes.
var errFrame = errors.New("the other node sent what is not a frame of a side channel")

// appendFrames adds data in as many frames as it takes, or one frame without any.
func appendFrames(to []byte, kind byte, data []byte) []byte {
	for {
		n := min(len(data), maxData)
		to = append(to, kind)
		to = binary.BigEndian.AppendUint16(to, uint16(n))
		to = append(to, data[:n]...)
		if data = data[n:]; len(data) == 0 {
			return to
		}
	}
}

// readFrame reads one frame; what it gives lies in buffer, which holds maxData.
func readFrame(from io.Reader, buffer []byte) (kind byte, data []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err
	}
	kind = head[0]
	n := int(binary.BigEndian.Uint16(head[1:]))
	switch kind {
	case frameHere, frameGone, frameListens, frameConnected, frameEnd:
		if n != 0 {
			return 0, nil, fmt.Errorf("%w: %q with %d bytes", errFrame, kind, n)
		}
	case frameData:
		if n == 0 || n > maxData {
			return 0, nil, fmt.Errorf("%w: %d bytes of data", errFrame, n)
		}
	default:
		return 0, nil, fmt.Errorf("%w: %q", errFrame, kind)
	}
	_, err = io.ReadFull(from, buffer[:n])
	return kind, buffer[:n], err
}
