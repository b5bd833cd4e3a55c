package multipath

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	headBytes = 29
	// blockBytes is the most that a frame carries: what comes out of a pipe at once.
	blockBytes = 64 << 10
)

const (
	flagEnd = 1 << iota // there is nothing behind this
	flagAsk             // how much has come is to be said at once
	flagsEnd
)

// head begins every frame.
type head struct {
	offset, length uint64
	read, received uint64 // of what the other end writes: in all, and by this path
	flags          byte
}

func (h head) put(to []byte) {
	to[0] = h.flags
	binary.BigEndian.PutUint64(to[1:], h.offset)
	binary.BigEndian.PutUint32(to[9:], uint32(h.length))
	binary.BigEndian.PutUint64(to[13:], h.read)
	binary.BigEndian.PutUint64(to[21:], h.received)
}

// errFrame is the error of what is no frame.
var errFrame = errors.New("a connection over several paths has a frame out of order")

func readHead(from io.Reader) (h head, err error) {
	var b [headBytes]byte
	if _, err := io.ReadFull(from, b[:]); err != nil {
		return h, err
	}
	h = head{
		flags: b[0], offset: binary.BigEndian.Uint64(b[1:]), length: uint64(binary.BigEndian.Uint32(b[9:])),
		read: binary.BigEndian.Uint64(b[13:]), received: binary.BigEndian.Uint64(b[21:]),
	}
	const most = 1 << 62
	if h.length > blockBytes || h.offset > most || h.flags >= flagsEnd {
		return h, errFrame
	}
	return h, nil
}
