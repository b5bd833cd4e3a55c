package pairing

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/cpace"
	"fulmen/native"
)

func FuzzMessage(f *testing.F) {
	clock := newClock()
	m := newMac(f, 1, clock)
	card := m.card(m.roster.Cluster())
	tag := make([]byte, cpace.TagSize)
	s := share{Share: make([]byte, cpace.ShareSize), Key: m.Public()}
	for _, seed := range []message{
		{Hello: &hello{1, 1}}, {Start: &start{With: kindCode, Wants: WantsJoin, share: s}}, {Share: &s}, {Confirm: &confirm{tag}}, {Card: &card},
		{Start: &start{With: kindInvite, Invite: "01234567", Wants: WantsAdmit, share: s}},
		{Roster: &rosterLog{Log: m.roster.Log()}}, {Ack: &empty{}}, {Refuse: &refuse{Reason: api.ReasonWrongCode, TriesLeft: 2}},
		{Ask: &empty{}}, {Claim: &Claim{Name: "x", ValidMS: 1, TriesLeft: 1}},
	} {
		raw, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := decodeMessage(raw); err != nil {
			f.Fatalf("%s: %v", raw, err)
		}
		f.Add(raw)
	}
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decodeMessage(raw)
		if err != nil {
			return
		}
		if again, err := json.Marshal(m); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%q reads and is written as %q", raw, again)
		}
		if m.Refuse != nil && m.Refuse.refusedError("").Data.Reason == "" {
			t.Fatal("a refusal without a reason")
		}
	})
}

// FuzzShow gives the side that shows a code whatever a stranger may send, in any
// frames.
func FuzzShow(f *testing.F) {
	f.Add(append(framed(len(goodHello), goodHello), framed(2, "{}")...))
	clock, err := native.SystemClock()
	if err != nil {
		f.Skip(err)
	}
	m := newMac(f, 1, &testClock{Clock: clock})
	other := newMac(f, 2, m.clock)
	s := share{Share: make([]byte, cpace.ShareSize), Key: other.Public()}
	s.Share[0] = 2 // an element
	for _, first := range []message{
		{Start: &start{With: kindCode, Wants: WantsJoin, share: s}}, {Ask: &empty{}},
	} {
		raw, err := json.Marshal(first)
		if err != nil {
			f.Fatal(err)
		}
		tag, err := json.Marshal(message{Confirm: &confirm{make([]byte, cpace.TagSize)}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Join([][]byte{framed(len(goodHello), goodHello), framed(len(raw), string(raw)), framed(len(tag), string(tag))}, nil))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		m.book = NewBook(m.clock, func() {})
		m.book.Open()
		defer m.book.Close()
		c := &canned{in: bytes.NewReader(sent)}
		out, err := Show(t.Context(), Conn{Conn: c, PeerKey: other.Public(), Session: make([]byte, sessionSize)}, m.book, m.side())
		if !out.WasAsked && err == nil || out.Peer.Node != "" {
			t.Fatal("a stranger was let in")
		}
		// Who asks is told name and model while a code is shown, and the rest of the card is for who proves it.
		if disclosed := c.out.Bytes(); bytes.Contains(disclosed, []byte("secret-name")) || !out.WasAsked && bytes.Contains(disclosed, []byte("ecret")) {
			t.Fatal("the card went to a stranger")
		}
		if m.book.code.isTested {
			t.Fatal("the code is held by who is gone")
		}
	})
}

// canned is a connection whose other end has said all it will.
type canned struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (c *canned) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *canned) Write(b []byte) (int, error) { return c.out.Write(b) }
func (c *canned) SetDeadline(time.Time) error { return nil }

func FuzzInvitation(f *testing.F) {
	f.Add(testInvitation().Line())
	f.Add(InvitationPrefix)
	f.Fuzz(func(t *testing.T, line string) {
		i, err := ParseInvitation(line)
		if err != nil {
			return
		}
		again, err := ParseInvitation(i.Line())
		if err != nil || again.Line() != i.Line() || again.reveal() != i.reveal() || i.Port == 0 || !api.NodeIDFromKey(i.PublicKey).Valid() {
			t.Fatalf("%q reads as something that does not read back", line)
		}
	})
}

// FuzzInvitationBody gets past the check characters.
func FuzzInvitationBody(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef\x1e\x34\x04\x0a\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, body []byte) {
		i, ok := readInvitation(body)
		if !ok {
			return
		}
		if len(i.Addresses) > MaxInvitationAddresses {
			t.Fatal("too many addresses")
		}
		again, err := ParseInvitation(i.Line())
		if err != nil || again.Line() != i.Line() {
			t.Fatalf("%x does not read back: %v", body, err)
		}
	})
}

func FuzzCode(f *testing.F) {
	f.Add("7K3M-Q2XA")
	f.Fuzz(func(t *testing.T, typed string) {
		c, err := ParseCode(typed)
		if err != nil {
			return
		}
		if again, err := ParseCode(c.Reveal()); err != nil || again.reveal() != c.reveal() {
			t.Fatalf("%q does not read back", typed)
		}
	})
}

func FuzzPlain(f *testing.F) {
	f.Add("Ada’s\u202e Mac\n")
	f.Fuzz(func(t *testing.T, s string) {
		once := plain(s)
		if plain(once) != once || len(once) > maxName {
			t.Fatalf("%q became %q", s, once)
		}
	})
}
