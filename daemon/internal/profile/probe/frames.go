package probe

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"fulmen/daemon/api"
)

// frameLimit is the longest frame in bytes; none needs a quarter of it.
const frameLimit = 1024

// purpose is what a connection is for. It is a part of its proof.
type purpose string

const (
	// forControl carries the measurer's wishes, the receiver's counts and the round trips.
	forControl purpose = "control"
	// forUp carries bytes to the measured node, forDown from it.
	forUp   purpose = "up"
	forDown purpose = "down"
)

// hello is the first frame of the dialling node, after the other one's challenge.
type hello struct {
	// Purpose is what the connection is for.
	Purpose purpose `json:"purpose"`
	// Stream numbers the connections of a purpose, from 0; each comes once.
	Stream int `json:"stream"`
	// Nonce is what the other node has to sign.
	Nonce []byte `json:"nonce"`
	// Proof is the dialling node's signature.
	Proof []byte `json:"proof"`
}

// welcome is the answer to a hello: a proof, or why there is none.
type welcome struct {
	// Proof is the answering node's signature.
	Proof []byte `json:"proof,omitempty"`
	// Refused says why the connection is closed now.
	Refused api.Reason `json:"refused,omitempty"`
}

// saying is what a frame of the control connection says.
type saying string

const (
	// sayEcho: round trips follow, until one of the number 0.
	sayEcho saying = "echo"
	// sayCount: the receiver has so many bytes at such a time.
	sayCount saying = "count"
	// sayStop: a direction is over.
	sayStop saying = "stop"
	// sayTotal: the answer to stop, with all bytes received or written.
	sayTotal saying = "total"
)

// word is a frame of the control connection.
type word struct {
	Say saying `json:"say"`
	// Way is the direction that is over; stop only.
	Way purpose `json:"way,omitempty"`
	// Bytes counts from the beginning of the direction.
	Bytes int64 `json:"bytes,omitempty"`
	// AtUS is the receiver's time since its first byte, in microseconds.
	AtUS int64 `json:"at_us,omitempty"`
}

var errFrame = errors.New("not a frame of a measurement")

// read takes a frame apart and checks what can be checked without knowing more.
func (h *hello) read(data []byte) error {
	if err := json.Unmarshal(data, h); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	switch {
	case h.Purpose != forControl && h.Purpose != forUp && h.Purpose != forDown,
		h.Stream < 0 || h.Stream >= maxStreams, h.Purpose == forControl && h.Stream != 0,
		len(h.Nonce) != nonceBytes, len(h.Proof) != proofBytes:
		return errFrame
	}
	return nil
}

func (w *welcome) read(data []byte) error {
	if err := json.Unmarshal(data, w); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	if w.Refused == "" && len(w.Proof) != proofBytes {
		return errFrame
	}
	return nil
}

func (w *word) read(data []byte) error {
	if err := json.Unmarshal(data, w); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	switch w.Say {
	case sayEcho:
	case sayStop:
		if w.Way != forUp && w.Way != forDown {
			return errFrame
		}
	case sayCount, sayTotal:
		if w.Bytes < 0 || w.AtUS < 0 {
			return errFrame
		}
	default:
		return errFrame
	}
	return nil
}

// echoBytes is the size of a round trip's message without the length before
// it: 64 bytes in all, as ping has it.
const echoBytes = 60

// echo is the message of a round trip.
type echo struct {
	// number is from 1; 0 ends the round trips and is not answered.
	number uint64
	// resent is how many segments the answering system has sent again on this
	// connection; unknownCount where it does not tell.
	resent uint64
}

const unknownCount = ^uint64(0)

func (e echo) bytes() []byte {
	data := make([]byte, echoBytes)
	binary.BigEndian.PutUint64(data, e.number)
	binary.BigEndian.PutUint64(data[8:], e.resent)
	return data
}

func (e *echo) read(data []byte) error {
	if len(data) != echoBytes {
		return errFrame
	}
	e.number, e.resent = binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:])
	return nil
}
