package cpace

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha512"
	"errors"
	"fmt"

	"github.com/gtank/ristretto255"
)

const (
	// KeySize is the length of the session's key in bytes.
	KeySize = sha512.Size
	// TagSize is the length of a confirmation in bytes.
	TagSize = sha512.Size
	// MaxDataBytes bounds associated data.
	MaxDataBytes = 4 << 10
)

// ErrBadShare is a message that no honest party sends: a share that is no
// element, or one that forces the key.
var ErrBadShare = errors.New("cpace: the other side's share is not valid")

// ErrNotConfirmed says that the other side has another key: the code, or
// anything else that both must see alike, differs.
var ErrNotConfirmed = errors.New("cpace: the other side does not know the same code")

// Role is which side of a run a party is.
type Role string

// The roles. The initiator sends its share first.
const (
	Initiator Role = "initiator"
	Responder Role = "responder"
)

// Input is what both sides must have alike, but for Data.
type Input struct {
	// Code is the shared secret, however short.
	Code []byte
	// Channel identifies the two parties and their roles (CI of the draft).
	Channel []byte
	// Session is unique for the run (sid).
	Session []byte
	// Data is sent in the open and proved by the run (ADa or ADb).
	Data []byte
}

// Message is what a party sends first.
type Message struct {
	// Share is ShareSize bytes.
	Share []byte `json:"share"`
	// Data is its Input.Data.
	Data []byte `json:"data"`
}

// Run is one party's part. It is for one use: a failed run is not repeated with
// the same share.
type Run struct {
	role   Role
	input  Input
	secret *ristretto255.Scalar
	own    Message
	done   bool
}

// New begins a run with a fresh secret.
func New(role Role, input Input) (*Run, error) {
	if role != Initiator && role != Responder {
		return nil, fmt.Errorf("cpace: no role %q", role)
	}
	if len(input.Code) == 0 || len(input.Session) == 0 || len(input.Data) > MaxDataBytes {
		return nil, errors.New("cpace: code and session must be there, and the data at most 4 KiB")
	}
	random := make([]byte, 64)
	rand.Read(random) // never fails: it ends the process where the system has no randomness
	return newRun(role, input, ristretto255.NewScalar().FromUniformBytes(random)), nil
}

func newRun(role Role, input Input, secret *ristretto255.Scalar) *Run {
	share := scalarMult(secret, generator(input.Code, input.Channel, input.Session))
	return &Run{role: role, input: input, secret: secret, own: Message{Share: share, Data: input.Data}}
}

// Message is what is to be sent.
func (r *Run) Message() Message { return r.own }

// Finish takes the other side's message. The result's Confirm is sent, and the
// other side's held against it; before that nothing is proved.
func (r *Run) Finish(peer Message) (*Result, error) {
	if r.done {
		return nil, errors.New("cpace: the run is over")
	}
	r.done = true
	if len(peer.Data) > MaxDataBytes {
		return nil, ErrBadShare
	}
	point, ok := scalarMultVerify(r.secret, peer.Share)
	r.secret.Zero()
	if !ok {
		return nil, ErrBadShare
	}
	first, second := r.own, peer
	if r.role == Responder {
		first, second = peer, r.own
	}
	key := sha512.Sum512(append(lvCat([]byte(dsiISK), r.input.Session, point), transcript(first, second)...))
	clear(point)
	mac := sha512.New()
	mac.Write([]byte("CPaceMac"))
	mac.Write(r.input.Session)
	mac.Write(key[:])
	macKey := mac.Sum(nil)
	return &Result{key: key[:], confirm: tag(macKey, r.own), expected: tag(macKey, peer)}, nil
}

// transcript is both messages, the initiator's first.
func transcript(a, b Message) []byte {
	return append(lvCat(a.Share, a.Data), lvCat(b.Share, b.Data)...)
}

// tag proves who sent a message to whoever has the key.
func tag(key []byte, m Message) []byte {
	mac := hmac.New(sha512.New, key)
	mac.Write(lvCat(m.Share, m.Data))
	return mac.Sum(nil)
}

// Result is a finished run.
type Result struct{ key, confirm, expected []byte }

// Confirm is the TagSize bytes by which the other side knows that this one has
// the key.
func (r *Result) Confirm() []byte { return r.confirm }

// Check holds the other side's Confirm against the key, in constant time, and
// gives the session's key of KeySize bytes. A party's own confirmation sent
// back to it does not count, even where both sent the same message.
func (r *Result) Check(confirm []byte) ([]byte, error) {
	if hmac.Equal(r.expected, r.confirm) || !hmac.Equal(r.expected, confirm) {
		return nil, ErrNotConfirmed
	}
	return r.key, nil
}
