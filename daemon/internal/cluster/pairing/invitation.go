package pairing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

const (
	// InvitationPrefix begins the line of an invitation and says how it is read.
	InvitationPrefix = "fulmen-invite-1."
	// MaxInvitationAddresses is how many addresses a line has at most.
	MaxInvitationAddresses = 8

	inviteSecretBytes = 16
	inviteCheckBytes  = 4
	inviteIDLength    = 8
	maxInviteLine     = 512
)

// Invitation is a long secret with whom it is from and where that Mac is, for a
// Mac that nobody sits at. Printing it does not show it. The zero value is none.
type Invitation struct {
	sealed
	// PublicKey is the key of the Mac that invites.
	PublicKey ed25519.PublicKey
	// Addresses are where it may be reached, best first, without zones: those of
	// link-local addresses are the reader's own interfaces.
	Addresses []netip.Addr
	// Port is the one for peers there.
	Port int
}

// newInvitation makes a secret. Addresses that a line cannot carry are left out.
func newInvitation(key ed25519.PublicKey, addresses []netip.Addr, port int) Invitation {
	secret := make([]byte, inviteSecretBytes)
	rand.Read(secret) // never fails: it ends the process where the system has no randomness
	i := Invitation{sealed: seal("an invitation", string(secret)), PublicKey: slices.Clone(key), Port: port}
	for _, a := range addresses {
		a = a.Unmap().WithZone("")
		if a.IsValid() && !a.IsUnspecified() && !slices.Contains(i.Addresses, a) && len(i.Addresses) < MaxInvitationAddresses {
			i.Addresses = append(i.Addresses, a)
		}
	}
	return i
}

// Line is what is given to the other Mac, the secret included: one line of about
// 100 characters, the last of which find what was copied wrong.
func (i Invitation) Line() string {
	body := append([]byte(i.reveal()), i.PublicKey...)
	body = binary.BigEndian.AppendUint16(body, uint16(i.Port))
	for _, a := range i.Addresses {
		raw := a.AsSlice()
		body = append(append(body, byte(len(raw))), raw...)
	}
	return InvitationPrefix + api.Base32().EncodeToString(append(body, inviteCheck(body)...))
}

func inviteCheck(body []byte) []byte {
	sum := sha256.Sum256(append([]byte(InvitationPrefix), body...))
	return sum[:inviteCheckBytes]
}

// ParseInvitation reads a line. The error does not repeat it.
func ParseInvitation(line string) (Invitation, error) {
	line = strings.ToLower(strings.TrimSpace(line))
	text, ok := strings.CutPrefix(line, InvitationPrefix)
	if !ok || len(line) > maxInviteLine {
		return Invitation{}, badInvitation("does not begin as invitations do, or is too long")
	}
	text = api.FoldCrockford(text)
	body, _ := api.Base32().DecodeString(text) // up to where it is not
	if api.Base32().EncodeToString(body) != text {
		return Invitation{}, badInvitation("has a character that invitations never have, or is incomplete")
	}
	end := max(0, len(body)-inviteCheckBytes)
	body, check := body[:end], body[end:]
	if !bytes.Equal(check, inviteCheck(body)) {
		return Invitation{}, badInvitation("was not copied correctly: the check at its end does not match")
	}
	i, ok := readInvitation(body)
	if !ok {
		return Invitation{}, badInvitation("does not say whom it is from and where that Mac is")
	}
	return i, nil
}

// readInvitation reads what Line wrote, and nothing else.
func readInvitation(body []byte) (i Invitation, ok bool) {
	const head = inviteSecretBytes + ed25519.PublicKeySize + 2
	if len(body) < head {
		return Invitation{}, false
	}
	i.sealed = seal("an invitation", string(body[:inviteSecretBytes]))
	i.PublicKey = ed25519.PublicKey(body[inviteSecretBytes : head-2])
	i.Port = int(binary.BigEndian.Uint16(body[head-2:]))
	for rest := body[head:]; len(rest) > 0; {
		length := int(rest[0])
		if len(rest) < 1+length || len(i.Addresses) == MaxInvitationAddresses {
			return Invitation{}, false
		}
		a, ok := netip.AddrFromSlice(rest[1 : 1+length])
		if !ok || a.Is4In6() || a.IsUnspecified() || slices.Contains(i.Addresses, a) {
			return Invitation{}, false
		}
		i.Addresses, rest = append(i.Addresses, a), rest[1+length:]
	}
	return i, i.Port != 0
}

func badInvitation(what string) error {
	return api.Errorf(api.ReasonBadValue, "invite", "The line is not an invitation: it %s.", what).
		WithRemedy("Copy the whole line that `fulmen invite` printed.")
}

func (i Invitation) kind() secretKind          { return kindInvite }
func (i Invitation) pinned() ed25519.PublicKey { return i.PublicKey }

// id is a hash of the secret: 128 bits are not found by trying.
func (i Invitation) id() string {
	sum := sha256.Sum256([]byte("fulmen-invite-id-1" + i.reveal()))
	return api.Base32().EncodeToString(sum[:])[:inviteIDLength]
}
