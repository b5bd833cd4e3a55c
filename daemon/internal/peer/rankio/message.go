package rankio

import (
	"time"

	"fulmen/daemon/api"
)

const (
	// MaxPiece is the most bytes of output or input in one message.
	MaxPiece = 64 << 10
	// BeatEvery is how long a side may be silent before it sends a Beat. A
	// connection whose cable was pulled says nothing for minutes, and a rank may
	// print nothing for hours; only this tells them apart.
	BeatEvery = 5 * time.Second
	// SilentFor is the silence after which the other side is taken for gone.
	SilentFor = 15 * time.Second
)

// Message is one of [Piece], [End], [Given], [Taken], [Beat] and [Refused].
type Message interface {
	kind() byte
	appendTo(b []byte) []byte
}

// Piece is a piece of what a rank printed.
type Piece struct {
	// Stream is where it was printed.
	Stream api.OutputStream
	// Offset is where the piece begins in the stream.
	Offset int64
	// Skipped is how many bytes just before it were not kept.
	Skipped int64
	// Data is at most MaxPiece bytes.
	Data []byte
}

// End says that no more output follows.
type End struct {
	// OutBytes and ErrBytes are where the two streams end.
	OutBytes, ErrBytes int64
	// Ended says that the rank has ended, so that there will never be more.
	Ended bool
}

// Given is a piece of a rank's input.
type Given struct {
	// Offset is where the piece begins in the rank's input.
	Offset int64
	// Data is at most MaxPiece bytes.
	Data []byte
	// End says that the input ends after it.
	End bool
}

// Taken says how far a rank's input has been handed to its program.
type Taken struct {
	// Bytes is the offset of the first byte that was not.
	Bytes int64
	// Ended says that the program was told the end, or is gone.
	Ended bool
}

// Beat says that the sender is there.
type Beat struct{}

// Refused says why nothing else comes.
type Refused struct {
	// Error is for the caller.
	Error *api.Error
}
