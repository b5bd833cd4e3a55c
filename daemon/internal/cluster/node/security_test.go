package node

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/replica"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// listener keeps what a host's connections receive.
type listener struct {
	native.Sockets
	mu       sync.Mutex
	received bytes.Buffer
}

func (e *listener) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	l, err := e.Sockets.Listen(ctx, iface, at)
	return listenerListener{l, e}, err
}

func (e *listener) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	c, err := e.Sockets.Dial(ctx, iface, source, to)
	if err != nil {
		return nil, err
	}
	return listenerConn{c, e}, nil
}

func (e *listener) take() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := bytes.Clone(e.received.Bytes())
	e.received.Reset()
	return all
}

type listenerListener struct {
	net.Listener
	listener *listener
}

func (l listenerListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return listenerConn{c, l.listener}, nil
}

type listenerConn struct {
	net.Conn
	listener *listener
}

func (c listenerConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.received.Write(p[:n])
	return n, err
}

// leaks says what of a cluster is in some bytes.
func (d *scenario) leaks(received []byte, of ...*mac) string {
	secrets := []string{"Secret Studio", "1.2.3-test", "Mac15,14", string(of[0].holder.Cluster())}
	for _, m := range of {
		secrets = append(secrets, m.name(), m.host(), string(m.identity.Node), m.identity.Node.Display(), string(m.identity.Public()),
			base64.StdEncoding.EncodeToString(m.identity.Public()))
	}
	for _, s := range secrets {
		if bytes.Contains(received, []byte(s)) {
			return fmt.Sprintf("%q", s)
		}
	}
	return ""
}

// A daemon of a stranger next to a cluster hears announcements in which nobody
// is named, is dialled by nobody, and gets nothing by dialling.
func TestNonMemberLearnsNothing(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		nonMember := d.add()
		listener := &listener{Sockets: nonMember.sockets}
		nonMember.sockets = listener
		nonMember.peers = []string{d.macs[0].office().Addr().String(), d.macs[1].office().Addr().String()}
		nonMember.start()
		for n := range 10 {
			d.macs[1].report(n)
			d.pass(time.Minute)
		}
		for _, code := range []string{"ABCD-EFGH"} {
			err := nonMember.join(code, at(d.macs[0]))
			is.True(errors.Is(err, api.ReasonUnreachable))
		}
		received := listener.take()
		d.t.Logf("a stranger has received %d bytes", len(received))
		is.Equal(d.leaks(received, d.macs[:3]...), "")
		is.True(len(received) < 100) // alerts of TLS, no certificate
		for _, s := range d.multicast.announced() {
			if s.host == nonMember.host() {
				continue
			}
			text, isOurs := discover.ParseText(s.TXT)
			is.True(isOurs)
			is.Equal(text.Pairing, "")
			raw, err := json.Marshal(s.Announcement)
			is.NoErr(err)
			is.Equal(d.leaks(raw, d.macs[:3]...), "")
		}
		// While a code is shown, and tried wrongly, no more is known than whose it is; and nothing of who tries.
		d.macs[0].Pair(api.ClusterPairParams{})
		d.pass(5 * time.Second)
		is.True(errors.Is(nonMember.join("ABCD-EFGH", at(d.macs[0])), api.ReasonWrongCode))
		is.Equal(nonMember.alone(d.macs[0]), "")
		is.Equal(len(nonMember.pendings()), 1)
		for _, p := range nonMember.pendings() {
			is.Equal([]string{p.Name, p.ModelName}, []string{d.macs[0].name(), "Secret Studio"})
		}
		for _, p := range d.macs[0].pendings() {
			is.Equal(p.ModelName, "")
			is.True(!strings.Contains(p.Name, nonMember.name()))
		}
	})
}

// Another Mac that shows a code at the same time gets nothing out of the one that
// is typed: a person has to say which is meant, and it cannot prove it.
func TestCodeIsOfTheRightMac(t *testing.T) {
	on(t, 3, func(d *scenario) {
		is := is.New(d.t)
		host, middle, guest := d.macs[0], d.macs[1], d.macs[2]
		code := host.Pair(api.ClusterPairParams{}).Code
		middle.Pair(api.ClusterPairParams{}) // it shows another one
		d.pass(time.Second)
		is.True(errors.Is(guest.join(code), api.ReasonAmbiguousName))
		is.True(errors.Is(guest.join(code, at(middle)), api.ReasonWrongCode))
		is.Equal(middle.alone(guest), "")
		is.Equal(guest.alone(middle), "")
		is.NoErr(guest.join(code, at(host)))
	})
}

// call makes a peer's call as a member that has turned bad would.
func (m *mac) call(to *mac, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return m.transport.Call(ctx, to.identity.Node, method, params, result)
}

// A member reaches the methods of peers and no other.
func TestMembersCallNoLocalMethod(t *testing.T) {
	in(t, 2, func(d *scenario) {
		is := is.New(d.t)
		for _, method := range api.Methods() {
			if method.Class == api.ClassPeer {
				continue
			}
			err := d.macs[0].call(d.macs[1], method.Name, struct{}{}, nil)
			is.True(errors.Is(err, api.CodeNotFound)) // method.Name
		}
	})
}

// A member can say nothing in another one's name: not in a new document, nor in
// a newer version of one, nor in one signed for another cluster.
func TestMembersCannotWriteOthersFacts(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		bad, victim, third := d.macs[0], d.macs[1], d.macs[2]
		victim.report(1)
		d.pass(time.Second)
		key := api.Key{Node: victim.identity.Node, Kind: api.KindThunderbolt, Name: "1"}
		record, found := bad.ledger.Get(key)
		is.True(found)
		forge := func(change func(*api.Document), by ed25519.PrivateKey, id api.ClusterID) json.RawMessage {
			doc := record.Document()
			change(&doc)
			doc.Seq += 1000
			doc.Sig = ed25519.Sign(by, doc.SigningBytes(id))
			raw, err := json.Marshal(doc)
			is.NoErr(err)
			return raw
		}
		lie := func(doc *api.Document) { doc.Value = json.RawMessage(`{"n":666}`) }
		own := bad.identity.Key()
		id := bad.holder.Cluster()
		kept := record.Document()
		kept.Value = json.RawMessage(`{"n":666}`) // with the old signature
		kept.Seq += 1000
		unsigned, err := json.Marshal(kept)
		is.NoErr(err)
		for _, raw := range []json.RawMessage{
			forge(lie, own, id), unsigned,
			forge(func(doc *api.Document) { lie(doc); doc.Name = "2" }, own, id),
			forge(lie, victim.identity.Key(), "00112233445566778899aabbccddeeff"),
			forge(func(doc *api.Document) { doc.Deleted, doc.Value = true, nil }, own, id),
			forge(func(doc *api.Document) { lie(doc); doc.Node = identityOf(99).Node }, identityOf(99).Key(), id),
		} {
			_ = bad.call(third, "peer.put", map[string]any{"docs": []json.RawMessage{raw}}, nil)
			_ = bad.call(victim, "peer.put", map[string]any{"docs": []json.RawMessage{raw}}, nil)
		}
		d.pass(2 * time.Minute)
		for _, m := range d.macs {
			is.Equal(m.receives(victim), 1)
			is.Equal(len(m.ledger.List(ledger.Filter{Nodes: []api.NodeID{identityOf(99).Node}})), 0)
			_, isThere := m.ledger.Get(api.Key{Node: victim.identity.Node, Kind: api.KindThunderbolt, Name: "2"})
			is.True(!isThere)
		}
		// What the victim itself signed would have been taken, from whomever.
		genuine := forge(func(doc *api.Document) { doc.Value = json.RawMessage(`{"n":2}`) }, victim.identity.Key(), id)
		is.NoErr(bad.call(third, "peer.put", map[string]any{"docs": []json.RawMessage{genuine}}, nil))
		is.Equal(third.receives(victim), 2)
	})
}

// Entries of the roster that no member has signed, or that say of another one
// that it has, admit nobody.
func TestForgedRoster(t *testing.T) {
	in(t, 2, func(d *scenario) {
		is := is.New(d.t)
		bad, victim := d.macs[0], d.macs[1]
		outsider := identityOf(50)
		r := victim.holder.Current()
		entry := func(by, claimed cluster.Identity, after []cluster.EntryHash) json.RawMessage {
			signed, err := cluster.SignEntry(cluster.Entry{
				Type: cluster.EntryAdd, Node: outsider.Node, PublicKey: outsider.Public(), By: by.Node, At: api.TimeOf(time.Now()), After: after,
			}, by)
			is.NoErr(err)
			signed.Raw = bytes.ReplaceAll(signed.Raw, []byte(by.Node), []byte(claimed.Node))
			raw, err := json.Marshal(signed)
			is.NoErr(err)
			return raw
		}
		other, err := cluster.FoundRoster(outsider, time.Now())
		is.NoErr(err)
		foreign, _ := replica.EncodeEntries(other.Log())
		for _, entries := range [][]json.RawMessage{
			{entry(outsider, outsider, r.Heads())},             // of itself
			{entry(bad.identity, victim.identity, r.Heads())},  // in another's name
			{entry(bad.identity, bad.identity, other.Heads())}, // after what nobody knows
			foreign, // of another cluster
			{json.RawMessage(`{"entry":{},"sig":""}`)},          // of nobody
			{json.RawMessage(`null`)}, {json.RawMessage(`[1]`)}, // nothing
		} {
			_ = bad.call(victim, "peer.roster", api.PeerRosterParams{Entries: entries}, nil)
		}
		d.pass(time.Minute)
		is.Equal(victim.holder.Current().Head(), r.Head())
		is.True(!victim.holder.IsMember(outsider.Node))
		is.Equal(d.broken(d.macs, 2), "")
		// A member's own would have been taken.
		is.NoErr(bad.call(victim, "peer.roster", api.PeerRosterParams{Entries: []json.RawMessage{entry(bad.identity, bad.identity, r.Heads())}}, nil))
		is.True(victim.holder.IsMember(outsider.Node))
	})
}

// certificateOf is one that a node would show.
func certificateOf(d *scenario, id cluster.Identity) tls.Certificate {
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, template, template, id.Public(), id.Key())
	d.must(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: id.Key()}
}

// connect connects to a Mac with a key, under the name of today that every node
// can make that ever was a member, and waits for an answer.
func (m *mac) connect(from *mac, id cluster.Identity, alpn string, carries api.PeerConnKind) error {
	raw, err := from.sockets.Dial(context.Background(), "en0", netip.Addr{}, netip.AddrPortFrom(m.office().Addr(), api.PeerPort))
	m.scenario.must(err)
	name := cluster.DailyID(m.holder.Cluster(), m.identity.Node, cluster.UseDial, time.Now()) + ".fulmen"
	conn := tls.Client(raw, &tls.Config{
		NextProtos: []string{alpn}, ServerName: name, InsecureSkipVerify: true, Certificates: []tls.Certificate{certificateOf(m.scenario, id)},
	})
	defer conn.Close()
	if err := conn.HandshakeContext(context.Background()); err != nil {
		return err
	}
	frame := fmt.Sprintf(`{"carries":%q,"protocol":1}`, carries)
	_, _ = conn.Write(append([]byte{0, 0, 0, byte(len(frame))}, frame...))
	_, err = conn.Read(make([]byte, 1))
	return err
}

// What a removed node has open ends at once, and it gets in by no door.
func TestRemovedIsOutOfEveryRoute(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		gone, host := d.macs[2], d.macs[0]
		stream, err := gone.transport.Stream(context.Background(), host.identity.Node, api.PeerConn{Carries: api.ConnStream})
		is.NoErr(err)
		is.NoErr(host.connect(gone, gone.identity, api.ALPN, api.ConnCalls)) // as long as it is a member
		is.NoErr(host.remove(gone))
		d.pass(time.Second)
		_, err = stream.Read(make([]byte, 1))
		is.True(err != nil)
		stream.Close()
		gone.halt()
		for _, carries := range []api.PeerConnKind{api.ConnPackets, api.ConnCalls, api.ConnStream, api.ConnPair} {
			for _, alpn := range []string{api.ALPN, transport.PairALPN} {
				is.True(host.connect(gone, gone.identity, alpn, carries) != nil)
			}
		}
	})
}

// Neither the code nor the secret of an invitation is in what is logged, in
// documents, in records, or on the wire.
func TestSecretsAreNowhere(t *testing.T) {
	bubble(t, func(d *scenario) {
		is := is.New(d.t)
		log := d.listen()
		for range 4 {
			d.add().start()
		}
		host := d.macs[0]
		wire := &listener{Sockets: d.net.Host(host.host())}
		host.halt()
		host.sockets = wire
		host.start()
		d.pass(time.Second)
		code := host.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.True(errors.Is(d.macs[1].join(wrong(code)), api.ReasonWrongCode))
		is.NoErr(d.macs[1].join(code))
		invitation, err := host.Invite(api.ClusterInviteParams{})
		is.NoErr(err)
		is.NoErr(d.macs[2].join("", func(p *api.ClusterJoinParams) { p.Invite = invitation.Invite }))
		shown := d.macs[3].Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(host.Answer(context.Background(), api.ClusterAnswerParams{Node: d.macs[3].identity.Node, Code: shown}))
		d.whole(time.Minute)
		host.halt()
		reported := log() + string(wire.take())
		for _, m := range d.macs {
			for _, record := range m.ledger.List(ledger.Filter{Deleted: true}) {
				raw, err := record.JSON()
				is.NoErr(err)
				reported += string(raw)
			}
			kept, err := m.disk.Load()
			is.NoErr(err)
			for _, doc := range kept {
				raw, err := json.Marshal(doc)
				is.NoErr(err)
				reported += string(raw)
			}
			reported += m.disk.raw()
		}
		is.True(len(reported) > 10_000)
		line := strings.TrimPrefix(invitation.Invite, "fulmen-invite-1.")
		for _, secret := range []string{code, shown, wrong(code), line, line[len(line)-30:], line[:30]} {
			plain := strings.ReplaceAll(secret, "-", "")
			is.True(len(plain) >= 8)
			for _, form := range []string{secret, plain, strings.ToLower(plain), strings.ToLower(secret), base64.StdEncoding.EncodeToString([]byte(plain))} {
				is.True(!strings.Contains(reported, form)) // a secret
			}
		}
		for _, m := range d.macs {
			is.True(!strings.Contains(reported, string(m.identity.Key().Seed())))
		}
	})
}
