package pairing

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestCodesDifferAndRead(t *testing.T) {
	is := is.New(t)
	seen := map[string]bool{}
	for range 1000 {
		c := newCode()
		is.True(!seen[c.reveal()])
		seen[c.reveal()] = true
		is.Equal(len(c.Reveal()), CodeLength+1)
		is.Equal(mustCode(t, c.Reveal()).reveal(), c.reveal())
	}
	is.Equal(Code{}.Reveal(), "")
	is.True(Code{}.IsZero())
}

func TestParseCode(t *testing.T) {
	for typed, want := range map[string]string{
		"7K3M-Q2XA": "7k3mq2xa", " 7k3mq2xa\n": "7k3mq2xa", "7 k 3 m q 2 x a": "7k3mq2xa",
		"oOiI-lL00": "00111100", "7K3M-Q2X": "", "7K3M-Q2XAA": "", "7K3M-Q2XU": "", "": "", "7K3M_Q2XA": "", "7k3mq2xé": "",
	} {
		t.Run(typed, func(t *testing.T) {
			is := is.New(t)
			c, err := ParseCode(typed)
			is.Equal(c.reveal(), want)
			is.Equal(err == nil, want != "")
			if err != nil && typed != "" {
				is.True(!strings.Contains(err.Error(), typed))
				is.True(errors.Is(err, api.ReasonBadValue))
				is.True(strings.Contains(err.Error(), "on the other Mac"))
			}
		})
	}
}

func testInvitation() Invitation {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	return newInvitation(key, []netip.Addr{
		netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1%en5"), netip.MustParseAddr("::ffff:10.0.0.2"),
		netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("0.0.0.0"), {},
	}, 7732)
}

func TestInvitationReadsBack(t *testing.T) {
	is := is.New(t)
	i := testInvitation()
	line := i.Line()
	is.True(len(line) < 160)
	likeLetters := InvitationPrefix + strings.NewReplacer("0", "O", "1", "l").Replace(strings.TrimPrefix(line, InvitationPrefix))
	for _, typed := range []string{line, " " + strings.ToUpper(line) + "\r\n", likeLetters} {
		read, err := ParseInvitation(typed)
		is.NoErr(err)
		is.Equal(read.reveal(), i.reveal())
		is.Equal(read.id(), i.id())
		is.True(read.PublicKey.Equal(i.PublicKey))
		is.Equal(read.Addresses, []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1"), netip.MustParseAddr("10.0.0.2")})
		is.Equal(read.Port, 7732)
	}
	is.True(testInvitation().reveal() != i.reveal())
}

// Whatever single character is copied wrong, or missing, is found.
func TestInvitationCopiedWrong(t *testing.T) {
	is := is.New(t)
	line := testInvitation().Line()
	for at := range line {
		for _, c := range []byte(api.Crockford) {
			bad := line[:at] + string(c) + line[at+1:]
			if bad == line {
				continue
			}
			_, err := ParseInvitation(bad)
			is.True(errors.Is(err, api.ReasonBadValue))
			is.True(!strings.Contains(err.Error(), line[20:40]))
			is.True(strings.Contains(err.Error(), "`fulmen invite`")) // what to do
		}
		_, err := ParseInvitation(line[:at] + line[at+1:])
		is.True(err != nil)
		_, err = ParseInvitation(line[:at])
		is.True(err != nil)
	}
}

// No way of printing shows a secret, nor one in another value.
func TestSecretsAreNotPrinted(t *testing.T) {
	code, invite := mustCode(t, "7K3MQ2XA"), testInvitation()
	type holder struct {
		Code   Code
		Invite *Invitation
		inner  any
		code   Code
		invite Invitation
	}
	h := holder{Code: code, Invite: &invite, inner: code, code: code, invite: invite}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "code", code, "invite", invite, "in", h, "standing", Standing{Code: code})
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "code", code, "invite", invite, "in", h, "page", &page{secret: code})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p"} {
		for _, v := range []any{code, &code, invite, &invite, h, &h, []any{code, invite}, map[string]any{"a": code}, code.sealed} {
			fmt.Fprintf(&logged, verb+"\n", v)
		}
	}
	for _, v := range []any{code, invite, h} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		logged.Write(raw)
	}
	is := is.New(t)
	text := strings.ToLower(logged.String())
	is.Equal(fmt.Sprint(code), "(a pairing code, not shown)")
	is.True(strings.Contains(text, "(a pairing code, not shown)"))
	is.True(strings.Contains(text, "(an invitation, not shown)"))
	for _, secret := range []string{
		"7k3mq2xa", "7k3m-q2xa", fmt.Sprintf("%x", "7k3mq2xa"), fmt.Sprint([]byte("7k3mq2xa")),
		invite.reveal(), fmt.Sprintf("%x", invite.reveal()), strings.Trim(fmt.Sprint([]byte(invite.reveal())), "[]"), fmt.Sprintf("%q", invite.reveal()),
	} {
		is.True(!strings.Contains(text, strings.ToLower(secret)))
	}
}
