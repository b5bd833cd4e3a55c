package probe

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"fulmen/daemon/api"
	"fulmen/native/frame"
)

// frameLimit is the longest frame in bytes; none needs a quarter of it.
const frameLimit = 1024

// purpose is what a connection is for. It is a part of its proof.
type purpose string

const (
	// forControl carries the measurer's requests, the receiver's counts and the round trips.
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

// messageKind is what a frame of the control connection says.
type messageKind string

const (
	// kindEcho: round trips follow, until one of the number 0.
	kindEcho messageKind = "echo"
	// kindCount: the receiver has so many bytes at such a time.
	kindCount messageKind = "count"
	// kindStop: a direction is over.
	kindStop messageKind = "stop"
	// kindTotal: the answer to stop, with all bytes received or written.
	kindTotal messageKind = "total"
)

// message is a frame of the control connection.
type message struct {
	Kind messageKind `json:"say"`
	// Way is the direction that is over; stop only.
	Way purpose `json:"way,omitempty"`
	// Bytes counts from the beginning of the direction.
	Bytes int64 `json:"bytes,omitempty"`
	// AtUS is the receiver's time since its first byte, in microseconds.
	AtUS int64 `json:"at_us,omitempty"`
}

var errFrame = errors.New("not a frame of a measurement")

// unframe decodes a frame, of which isRight says whether it is right as far as that can
// be seen without knowing more.
func unframe(data []byte, into any, isRight func() bool) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	if !isRight() {
		return errFrame
	}
	return nil
}

func (h *hello) read(data []byte) error {
	return unframe(data, h, func() bool {
		isPurpose := h.Purpose == forControl && h.Stream == 0 || h.Purpose == forUp || h.Purpose == forDown
		return isPurpose && h.Stream >= 0 && h.Stream < maxStreams && len(h.Nonce) == nonceBytes && len(h.Proof) == proofBytes
	})
}

func (w *welcome) read(data []byte) error {
	return unframe(data, w, func() bool { return w.Refused != "" || len(w.Proof) == proofBytes })
}

func (w *message) read(data []byte) error {
	return unframe(data, w, func() bool {
		switch w.Kind {
		case kindEcho:
			return true
		case kindStop:
			return w.Way == forUp || w.Way == forDown
		case kindCount, kindTotal:
			return w.Bytes >= 0 && w.AtUS >= 0
		}
		return false
	})
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

// control is the connection on which both ends talk of a measurement.
type control struct {
	conn net.Conn
	in   *bufio.Reader
	seen *atomic.Int64 // grows with everything that arrives
	out  sync.Mutex
}

func newControl(conn net.Conn, seen *atomic.Int64) *control {
	return &control{conn: conn, in: bufio.NewReaderSize(conn, controlBuffer), seen: seen}
}

// controlBuffer holds all the counts that may have come while nobody read.
const controlBuffer = 64 << 10

// report sends a word.
func (c *control) report(w message) error {
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return c.send(data)
}

// send sends a frame.
func (c *control) send(data []byte) error {
	c.out.Lock()
	defer c.out.Unlock()
	_, err := c.conn.Write(frame.Encode(data))
	return err
}

// receive waits for a word, or for the message of a round trip.
func (c *control) receive(into interface{ read(data []byte) error }) error {
	data, err := frame.Read(c.in, frameLimit)
	if err != nil {
		return err
	}
	c.seen.Add(1)
	return into.read(data)
}

const (
	tokenBytes = 32
	nonceBytes = 32
	proofBytes = ed25519.SignatureSize
	keyBytes   = ed25519.PublicKeySize
	// proofPrefix keeps these signatures from being anything else that a node signs.
	proofPrefix = "fulmen-probe-1"
)

// bond is what a connection's proofs are bound to: whoever does not know the
// token can neither make nor check one, and a proof holds for one connection to
// one address.
type bond struct {
	measurement        api.MeasureID
	measurer, measured api.NodeID
	sink               netip.Addr // without zone
	token              []byte
	purpose            purpose
	stream             int
	challenge, nonce   []byte
}

// text is what a side signs.
func (b *bond) text(by api.NodeID, role string) []byte {
	out := append([]byte(proofPrefix), 0)
	for _, part := range [][]byte{
		[]byte(role), []byte(by), []byte(b.measurer), []byte(b.measured), []byte(b.measurement), b.sink.AsSlice(), b.token,
		[]byte(b.purpose), binary.BigEndian.AppendUint32(nil, uint32(b.stream)), b.challenge, b.nonce,
	} {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(part))), part...)
	}
	return out
}

// dialled and answered are what the two sides sign.
func (b *bond) dialled() []byte  { return b.text(b.measurer, "measurer") }
func (b *bond) answered() []byte { return b.text(b.measured, "measured") }

// drawn is so many bytes that nobody can guess.
func drawn(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out) // never fails: the program ends instead
	return out
}
