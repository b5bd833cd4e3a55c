package pairing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/cpace"
	"fulmen/native/frame"
)

// What people read is printable, on one line, and no longer than it may be.
func TestPlain(t *testing.T) {
	long := strings.Repeat("x", maxName)
	for disclosed, want := range map[string]string{
		"": "", "Ada's Mac": "Ada's Mac", " a\tb\nc ": "a b c", "a\x00\u202eb\u200dc": "abc", "a\xffb": "ab", "a\ufffdb": "ab",
		long: long, long + "x": long, long[1:] + "é": long[1:], long[2:] + "é": long[2:] + "é", long[1:] + " y": long[1:], long[2:] + "éé": long[2:] + "é",
	} {
		is.New(t).Equal(plain(disclosed), want)
	}
}

// A claim is within what a Mac that shows a code can say.
func TestClaims(t *testing.T) {
	sound := Claim{Name: "Ada's Mac", ModelName: "Mac Studio", ValidMS: 1, TriesLeft: 1}
	for name, c := range map[string]struct {
		change func(*Claim)
		valid  bool
	}{
		"the least":      {func(*Claim) {}, true},
		"the most":       {func(c *Claim) { c.ValidMS, c.TriesLeft = api.CodeTTL.Milliseconds(), api.MaxCodeTries }, true},
		"no model":       {func(c *Claim) { c.ModelName = "" }, true},
		"no name":        {func(c *Claim) { c.Name = "" }, false},
		"an odd name":    {func(c *Claim) { c.Name = "a\nb" }, false},
		"an odd model":   {func(c *Claim) { c.ModelName = " x" }, false},
		"over":           {func(c *Claim) { c.ValidMS = 0 }, false},
		"too long":       {func(c *Claim) { c.ValidMS = api.CodeTTL.Milliseconds() + 1 }, false},
		"no tries":       {func(c *Claim) { c.TriesLeft = 0 }, false},
		"too many tries": {func(c *Claim) { c.TriesLeft = api.MaxCodeTries + 1 }, false},
	} {
		claim := sound
		c.change(&claim)
		if claim.isValid() != c.valid {
			t.Errorf("%s: %+v", name, claim)
		}
	}
	is := is.New(t)
	card := Card{Name: "Ada's Mac", ShortName: "adas-mac", Version: "1", Cluster: "a7937b64b8caa58f03721bb6bacf5c78"}
	is.True(card.isValid())
	for _, change := range []func(*Card){func(c *Card) { c.Name = "a\nb" }, func(c *Card) { c.Version = " 1" }, func(c *Card) { c.ModelName = "x " },
		func(c *Card) { c.Cluster = "x" }, func(c *Card) { c.ShortName = "Adas Mac" }, func(c *Card) { c.ShortName = "" }} {
		other := card
		change(&other)
		is.True(!other.isValid())
	}
	other := card
	other.Cluster = "00000000000000000000000000000001"
	for _, c := range []struct{ member, leaves, same, may bool }{
		{false, false, false, true}, {true, false, false, false}, {true, true, false, true}, {true, false, true, true}, {false, true, false, true},
	} {
		joiner, admitter := card, other
		joiner.IsMember, joiner.Leaves = c.member, c.leaves
		if c.same {
			admitter = card
		}
		is.Equal(mayJoin(joiner, admitter) == "", c.may)
	}
}

// A proof begins with all that it needs, for something that can be wanted.
func TestBeginnings(t *testing.T) {
	sound := func() start {
		return start{With: kindCode, Wants: WantsJoin, share: share{Share: make([]byte, cpace.ShareSize), Key: make([]byte, ed25519.PublicKeySize)}}
	}
	for name, c := range map[string]struct {
		change func(*start)
		valid  bool
	}{
		"of a code":             {func(*start) {}, true},
		"to admit":              {func(s *start) { s.Wants = WantsAdmit }, true},
		"of an invitation":      {func(s *start) { s.With, s.Invite = kindInvite, "01234567" }, true},
		"of no invitation":      {func(s *start) { s.With = kindInvite }, false},
		"of a code with a name": {func(s *start) { s.Invite = "01234567" }, false},
		"of something else":     {func(s *start) { s.With = "key" }, false},
		"to do something else":  {func(s *start) { s.Wants = "look" }, false},
		"without a share":       {func(s *start) { s.Share = nil }, false},
		"without a key":         {func(s *start) { s.Key = nil }, false},
	} {
		s := sound()
		c.change(&s)
		if s.isValid() != c.valid {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A line says all that it must and nothing more, whatever fits its check.
func TestInvitationsToTheByte(t *testing.T) {
	body := func(port uint16, rest ...byte) []byte {
		b := append(bytes.Repeat([]byte{7}, inviteSecretBytes), testInvitation().PublicKey...)
		return append(binary.BigEndian.AppendUint16(b, port), rest...)
	}
	line := func(b []byte) string {
		return InvitationPrefix + api.Base32().EncodeToString(append(slices.Clone(b), inviteCheck(b)...))
	}
	address := func(n int) []byte {
		var all []byte
		for i := range n {
			all = append(all, 4, 10, 0, 0, byte(i+1))
		}
		return all
	}
	for name, c := range map[string]struct {
		body  []byte
		valid bool
	}{
		"no address":              {body(1), true},
		"the highest port":        {body(65535), true},
		"no port":                 {body(0), false},
		"a byte missing":          {body(1)[:inviteSecretBytes+ed25519.PublicKeySize+1], false},
		"nothing":                 {nil, false},
		"as many as there may be": {body(1, address(MaxInvitationAddresses)...), true},
		"one too many":            {body(1, address(MaxInvitationAddresses+1)...), false},
		"one twice":               {body(1, append(address(1), address(1)...)...), false},
		"cut off":                 {body(1, address(1)[:4]...), false},
		"a length alone":          {body(1, 4), false},
		"of no length":            {body(1, 0), false},
		"of an odd length":        {body(1, 5, 1, 2, 3, 4, 5), false},
		"nowhere":                 {body(1, 4, 0, 0, 0, 0), false},
		"in two forms":            {body(1, append([]byte{16}, netip.MustParseAddr("::ffff:10.0.0.1").AsSlice()...)...), false},
		"of the new kind":         {body(1, append([]byte{16}, netip.MustParseAddr("fe80::1").AsSlice()...)...), true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			read, err := ParseInvitation(line(c.body))
			is.Equal(err == nil, c.valid)
			if err == nil {
				is.Equal(read.Line(), line(c.body))
			}
		})
	}
	is := is.New(t)
	_, err := ParseInvitation(InvitationPrefix)
	is.True(err != nil)
	sum := sha256.Sum256([]byte("x"))
	_, err = ParseInvitation(InvitationPrefix + api.Base32().EncodeToString(sum[:inviteCheckBytes-1]))
	is.True(err != nil)
	padded := line(body(1)) + strings.Repeat(" ", 2*maxInviteLine)
	_, err = ParseInvitation(padded)
	is.NoErr(err) // spaces around it do not count
	for more, isTooLong := range []bool{false, true} {
		_, err = ParseInvitation(InvitationPrefix + strings.Repeat("0", maxInviteLine-len(InvitationPrefix)+more))
		is.Equal(strings.Contains(err.Error(), "too long"), isTooLong)
	}
	var many []netip.Addr
	for i := range MaxInvitationAddresses + 2 {
		many = append(many, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	is.Equal(newInvitation(testInvitation().PublicKey, many, 1).Addresses, many[:MaxInvitationAddresses])
}

// For how long an invitation counts, and what it needs.
func TestInviteToTheSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, m, _ := macs(t)
		for _, c := range []struct {
			key      ed25519.PublicKey
			port     int
			validity time.Duration
			want     time.Duration
		}{
			{m.Public(), 1, 0, DefaultInviteValidity}, {m.Public(), 65535, time.Second, time.Second}, {m.Public(), 1, MaxInviteValidity, MaxInviteValidity},
			{m.Public(), 1, MaxInviteValidity + 1, 0}, {m.Public(), 1, -1, 0}, {m.Public(), 0, time.Second, 0}, {m.Public(), 65536, time.Second, 0}, {m.Public()[1:], 1, time.Second, 0},
		} {
			i, until, err := m.book.Invite(c.key, nil, c.port, c.validity)
			is.Equal(err == nil, c.want != 0)
			if err != nil {
				is.True(errors.Is(err, api.ReasonBadValue))
				continue
			}
			is.Equal(until, m.clock.Now().Add(c.want))
			is.Equal(i.Port, c.port)
		}
		for range MaxInvitations - 3 {
			_, _, err := m.book.Invite(m.Public(), nil, 1, time.Minute)
			is.NoErr(err)
		}
		i, _, err := m.book.Invite(m.Public(), nil, 1, time.Minute)
		is.True(errors.Is(err, api.ReasonPairingBusy))
		is.True(i.IsZero())
		time.Sleep(time.Second)
		_, _, err = m.book.Invite(m.Public(), nil, 1, time.Minute) // one has expired
		is.NoErr(err)
	})
}

// A refusal is one of those that there are, and only of a wrong code it says how many
// tries are left.
func TestRefusals(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct {
		reason api.Reason
		left   int
		valid  bool
	}{
		{api.ReasonWrongCode, 0, false}, {api.ReasonWrongCode, 1, true}, {api.ReasonWrongCode, api.MaxCodeTries - 1, true}, {api.ReasonWrongCode, api.MaxCodeTries, false},
		{api.ReasonWrongCode, -1, false}, {api.ReasonPairingNotOpen, 0, true}, {api.ReasonPairingNotOpen, 1, false}, {api.ReasonPairingNotOpen, -1, false}, {api.ReasonDiskFull, 0, false},
	} {
		r := refuse{c.reason, c.left}
		is.Equal(r.isValid(), c.valid)
	}
	is.Equal(*refusalOf(wrongCode(2), 2), refuse{api.ReasonWrongCode, 2})
	is.Equal(*refusalOf(api.NewError(api.ReasonPairingBusy, ""), 2), refuse{api.ReasonPairingBusy, 0})
	is.Equal(*refusalOf(api.NewError(api.ReasonDiskFull, ""), 2), refuse{api.ReasonInternal, 0})
	is.Equal(wrongCode(1).Message, "Wrong code, 1 try left.")
	is.Equal(wrongCode(2).Message, "Wrong code, 2 tries left.")
	for reason, want := range map[api.Reason]api.Reason{api.ReasonWrongCode: api.ReasonWrongCode, api.ReasonMalformedMessage: api.ReasonInternal, api.ReasonInternal: api.ReasonInternal, api.ReasonRemoved: api.ReasonRemoved} {
		r := refuse{reason, 1}
		is.Equal(r.refusedError("axwfk1even66ca3j").Data.Reason, want)
		is.Equal(strings.Contains(r.refusedError("axwfk1even66ca3j").Data.Remedy, "log"), want == api.ReasonInternal)
	}
}

// A connection without both keys and a session cannot be paired over.
func TestWhatCannotBePairedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, m, other := macs(t)
		sound := Conn{PeerKey: other.Public(), Session: bytes.Repeat([]byte{1}, sessionSize)}
		for _, c := range []struct {
			change func(*Side, *Conn)
			want   api.Reason
		}{
			{func(*Side, *Conn) {}, ""},
			{func(s *Side, _ *Conn) { s.Key = s.Key[1:] }, api.ReasonInternal},
			{func(_ *Side, c *Conn) { c.PeerKey = c.PeerKey[1:] }, api.ReasonInternal},
			{func(_ *Side, c *Conn) { c.Session = c.Session[1:] }, api.ReasonInternal},
			{func(s *Side, c *Conn) { c.PeerKey = s.Key }, api.ReasonDuplicateIdentity},
		} {
			s, conn := m.side(), sound
			s.Card.Name = "a\nb"
			c.change(&s, &conn)
			err := s.check(conn)
			is.Equal(err == nil, c.want == "")
			if c.want != "" {
				is.True(errors.Is(err, c.want))
			} else {
				is.Equal(s.Card.Name, "a b")
			}
		}
	})
}

// A proof ends once: what comes after it changes nothing.
func TestAProofEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		changes := 0
		shower.book = NewBook(shower.clock, func() { changes++ })
		shower.book.Open()
		is.True(shower.book.Standing().IsOpen())
		is.Equal(changes, 1)
		conn := Conn{PeerKey: typer.Public()}
		p, err := shower.book.begin(kindCode, "", conn)
		is.NoErr(err)
		p.share()
		p.end()
		is.True(errors.Is(p.succeed(), api.ReasonInternal))
		is.Equal(len(shower.book.Standing().Tries), 1)
		is.Equal(changes, 2)
		is.Equal(shower.book.Standing().UsedBy, api.NodeID(""))
		p, err = shower.book.begin(kindCode, "", conn)
		is.NoErr(err)
		is.NoErr(p.succeed())
		is.Equal(changes, 3)
		p.share()
		p.end()
		is.Equal(len(shower.book.Standing().Tries), 1)
		is.True(!shower.book.Standing().IsOpen())
		_, err = shower.book.begin(kindCode, "", Conn{PeerKey: newMac(t, 99, shower.clock).Public()})
		is.True(errors.Is(err, api.ReasonPairingNotOpen)) // it is another's
		p, err = shower.book.begin(kindCode, "", conn)
		is.NoErr(err)
		shower.book.Close()
		is.True(errors.Is(p.succeed(), api.ReasonPairingNotOpen))
		is.True(!shower.book.Standing().IsOpen())
		_, err = shower.book.begin(kindInvite, "unknown", conn)
		is.True(errors.Is(err, api.ReasonInviteExpired))
	})
}

// The inbox is in order, and of those ignored the one heard longest ago gives way.
func TestInboxInOrder(t *testing.T) {
	is := is.New(t)
	b := NewInbox()
	for n := range 3 {
		is.True(b.Receive(at(time.Duration(n)*InboxGap), asking(n)))
		is.True(!b.Receive(at(time.Duration(n+1)*InboxGap-1), asking(100+n))) // too soon
	}
	is.Equal([]api.NodeID{b.List()[0].Peer, b.List()[1].Peer, b.List()[2].Peer}, []api.NodeID{asking(0).Node, asking(1).Node, asking(2).Node})
	for _, e := range b.entries {
		e.pending.Since = api.TimeOf(at(0).Wall)
	}
	is.True(slices.IsSortedFunc(b.List(), func(x, y api.Pending) int { return strings.Compare(string(x.Peer), string(y.Peer)) }))
	next, _ := b.Next()
	is.Equal(next, api.CodeTTL)
	gone := b.Expire(at(time.Hour))
	is.Equal(len(gone), 3)
	is.True(slices.IsSorted(gone))

	b = NewInbox()
	for n := range MaxInbox {
		now := at(time.Duration(n) * InboxGap)
		is.True(b.Receive(now, asking(n)))
		is.NoErr(b.Set(now, asking(n).Node, api.PendingIgnored))
	}
	is.True(b.Receive(at(MaxInbox*InboxGap), asking(0))) // heard again
	is.NoErr(b.Set(at(MaxInbox*InboxGap), asking(1).Node, api.PendingLater))
	is.True(b.Receive(at(MaxInbox*InboxGap), asking(500)))
	is.True(b.entries[asking(0).Node] != nil && b.entries[asking(1).Node] != nil)
	is.True(b.entries[asking(2).Node] == nil)
	is.Equal(b.Expire(at(MaxInbox*InboxGap)), []api.NodeID{asking(2).Node}) // whoever shows them hears of it
	is.Equal(len(b.Expire(at(MaxInbox*InboxGap))), 0)
	long := asking(501)
	long.ValidMS = 2 * api.CodeTTL.Milliseconds()
	is.True(b.Receive(at((MaxInbox+1)*InboxGap), long))
	is.Equal(b.entries[long.Node].expires, (MaxInbox+1)*InboxGap+api.CodeTTL) // no longer than a code counts
}

// Who began and who answered is in what both prove, alike at both ends.
func TestWhatIsProved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, one, other := macs(t)
		code := mustCode(t, "7K3MQ2XA")
		session := bytes.Repeat([]byte{1}, sessionSize)
		begins := input(code, Conn{PeerKey: other.Public(), Session: session}, one.Public(), cpace.Initiator)
		answers := input(code, Conn{PeerKey: one.Public(), Session: session}, other.Public(), cpace.Responder)
		is.Equal(string(begins.Channel), "fulmen-pair-1 code initiator "+string(one.Node)+" responder "+string(other.Node))
		is.Equal(string(answers.Channel), string(begins.Channel))
		is.Equal(string(begins.Code), "7k3mq2xa")
		is.Equal(begins.Session, session)
		is.Equal(begins.Data, []byte(one.Public()))
		is.Equal(answers.Data, []byte(other.Public()))
	})
}

// Strangers are heard for a while after an invitation, to the end of it.
func TestListeningToTheMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, m, _ := macs(t)
		for _, over := range []time.Duration{1, 0} {
			m.book.invites = map[string]*page{"x": {secret: testInvitation(), expires: m.clock.Boot() - explainFor + over}}
			is.Equal(m.book.IsListening(), over > 0)
		}
	})
}

// Before the proof what a stranger may send in all is bounded, after it each message.
func TestHowMuchMayBeSent(t *testing.T) {
	is := is.New(t)
	near, far := net.Pipe()
	l := &line{conn: Conn{Conn: near}, left: 20}
	send := func(n int) {
		go func() { _, _ = far.Write(framed(n, strings.Repeat("x", n))) }()
	}
	send(4)
	body, err := l.read()
	is.NoErr(err)
	is.Equal(len(body), 4)
	is.Equal(l.left, 12)
	l.prove()
	is.Equal(l.left, maxProvedBytes)
	send(100)
	body, err = l.read()
	is.NoErr(err)
	is.Equal(len(body), 100)
	is.Equal(l.left, maxProvedBytes)

	// What may be sent is read at the other end.
	named := func(n int) message { return message{Claim: &Claim{Name: strings.Repeat("x", n)}} }
	empty, err := json.Marshal(named(0))
	is.NoErr(err)
	most := maxProvedBytes - frame.HeadBytes - len(empty)
	other, done := open(t.Context(), Conn{Conn: far}, newClock())
	defer done()
	sent := make(chan error, 1)
	go func() { sent <- other.send(named(most)) }()
	body, err = l.read()
	is.NoErr(err)
	is.NoErr(<-sent)
	is.Equal(len(body), len(empty)+most)
	is.True(errors.Is(other.send(named(most+1)), api.ReasonRosterConflict))
}

// Who broke in the midst of an exchange says nothing more.
func TestAPanicEndsTheConnection(t *testing.T) {
	is := is.New(t)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	err := func() (err error) {
		defer recovered(Conn{Conn: near}, &err)
		panic("broken")
	}()
	is.True(errors.Is(err, api.ReasonInternal))
	_, err = near.Write([]byte("x"))
	is.True(errors.Is(err, os.ErrDeadlineExceeded))
}
