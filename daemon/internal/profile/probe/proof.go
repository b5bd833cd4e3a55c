package probe

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"net/netip"

	"fulmen/daemon/api"
)

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
