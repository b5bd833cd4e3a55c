package pairing

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/cpace"
)

// ProtocolVersion is the version of this exchange, which has nothing to do with
// that of members.
const ProtocolVersion = 1

// message is one frame: exactly one of its fields. Both sides send Hello, then
// whoever has typed the code sends Start and the other answers, in turn:
//
//	Start -> Share, Confirm -> Confirm, Card -> Card,
//	then from the one that admits Roster, from the one that joins Ack.
//
// Refuse takes the place of any. A Mac that only wants to know who shows a code
// sends Ask, and is answered with Claim.
type message struct {
	Hello   *hello     `json:"hello,omitempty"`
	Start   *start     `json:"start,omitempty"`
	Share   *share     `json:"share,omitempty"`
	Confirm *confirm   `json:"confirm,omitempty"`
	Card    *Card      `json:"card,omitempty"`
	Roster  *rosterLog `json:"roster,omitempty"`
	Ack     *empty     `json:"ack,omitempty"`
	Refuse  *refuse    `json:"refuse,omitempty"`
	Ask     *empty     `json:"ask,omitempty"`
	Claim   *Claim     `json:"claim,omitempty"`
}

// hello is which versions a side speaks. It stays as it is in all versions.
type hello struct {
	Version    int `json:"version"`
	VersionMin int `json:"version_min"`
}

// start begins a proof.
type start struct {
	// With is which kind of secret is proved, Invite which invitation.
	With   secretKind `json:"with"`
	Invite string     `json:"invite,omitempty"`
	// Wants is what the sender wants to do.
	Wants Wants `json:"wants"`
	share
}

// share is a side's part of CPace.
type share struct {
	Share []byte `json:"share"`
	// Key is the sender's public key, the same that TLS has shown.
	Key []byte `json:"key"`
}

// confirm proves that the sender knows the secret.
type confirm struct {
	Tag []byte `json:"tag"`
}

// rosterLog is the roster with the joiner in it.
type rosterLog struct {
	Log []cluster.SignedEntry `json:"log"`
	// AlreadyMember says that it was in it before.
	AlreadyMember bool `json:"already_member,omitempty"`
}

type empty struct{}

// Wants is what the side that types the code wants to do.
type Wants string

// What it may want.
const (
	// WantsJoin is to join the cluster of the Mac that shows the code.
	WantsJoin Wants = "join"
	// WantsAdmit is to take that Mac into its own.
	WantsAdmit Wants = "admit"
)

// malformed says that the other side does not speak as it should, without
// repeating what it said.
func malformed() error {
	return api.Errorf(api.ReasonMalformedMessage, "", "The other Mac sent something that is not part of pairing.").
		WithRemedy("Try again; if that does not help, update Fulmen on both Macs.")
}

// part is one kind of message.
type part struct {
	name    string
	isThere bool
	isValid func() bool
}

func (m *message) parts() []part {
	yes := func() bool { return true }
	return []part{
		{"hello", m.Hello != nil, func() bool { return m.Hello.VersionMin >= 1 && m.Hello.Version >= m.Hello.VersionMin }},
		{"start", m.Start != nil, func() bool { return m.Start.isValid() }},
		{"share", m.Share != nil, func() bool { return m.Share.isValid() }},
		{"confirm", m.Confirm != nil, func() bool { return len(m.Confirm.Tag) == cpace.TagSize }},
		{"card", m.Card != nil, func() bool { return m.Card.isValid() }},
		{"roster", m.Roster != nil, yes},
		{"ack", m.Ack != nil, yes},
		{"refuse", m.Refuse != nil, func() bool { return m.Refuse.isValid() }},
		{"ask", m.Ask != nil, yes},
		{"claim", m.Claim != nil, func() bool { return m.Claim.isValid() }},
	}
}

func (s *share) isValid() bool {
	return len(s.Share) == cpace.ShareSize && len(s.Key) == ed25519.PublicKeySize
}

func (s *start) isValid() bool {
	idLength, known := map[secretKind]int{kindCode: 0, kindInvite: inviteIDLength}[s.With]
	return known && len(s.Invite) == idLength && s.share.isValid() && (s.Wants == WantsJoin || s.Wants == WantsAdmit)
}

// is reports whether the message is of one of the kinds named.
func (m *message) is(names ...string) bool {
	return slices.ContainsFunc(m.parts(), func(p part) bool { return p.isThere && slices.Contains(names, p.name) })
}

// decodeMessage reads a frame. It takes only what encoding would have written:
// no field that is not known, none twice, none in another case, and no spaces.
func decodeMessage(raw []byte) (message, error) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return message{}, malformed()
	}
	if again, err := json.Marshal(m); err != nil || !bytes.Equal(again, raw) {
		return message{}, malformed()
	}
	count := 0
	for _, p := range m.parts() {
		if !p.isThere {
			continue
		}
		if count++; count > 1 || !p.isValid() {
			return message{}, malformed()
		}
	}
	if count != 1 {
		return message{}, malformed()
	}
	return m, nil
}
