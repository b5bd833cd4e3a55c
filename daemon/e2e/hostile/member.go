package hostile

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/native/frame"
)

// timeout bounds one answer; all others are within the daemons' own bounds.
const timeout = time.Minute

// ErrTurnedAway is a connection that a daemon did not take.
var ErrTurnedAway = errors.New("the connection was not taken")

// Member speaks with a key. It is one to the daemons if the roster has the key.
type Member struct {
	cluster.Identity
	net     *Network
	cluster api.ClusterID

	mu    sync.Mutex
	calls map[api.NodeID]*calls
}

// calls is a connection for calls, one after the other.
type calls struct {
	mu   sync.Mutex
	conn net.Conn
	last int
}

// Person is an account of the member's.
func (m *Member) Person(user string) api.Principal {
	return api.Principal{User: user, Node: m.Node}
}

// Connect opens a connection without a word: whoever comes is a stranger still.
func (m *Member) Connect(ctx context.Context, to api.NodeID) (net.Conn, error) {
	return m.net.sockets.Dial(ctx, "", netip.Addr{}, m.net.at[to])
}

// Open opens a connection as a member and says what it carries, and gives it before
// the daemon has answered.
func (m *Member) Open(ctx context.Context, to api.NodeID, first api.PeerConn) (net.Conn, error) {
	raw, err := m.Connect(ctx, to)
	if err != nil {
		return nil, err
	}
	key := m.Key()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	conn := tls.Client(raw, &tls.Config{
		NextProtos: []string{api.ALPN}, InsecureSkipVerify: true, SessionTicketsDisabled: true, MinVersion: tls.VersionTLS13,
		ServerName:   cluster.DailyID(m.cluster, to, cluster.UseDial, time.Now()) + ".fulmen",
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	})
	if err = conn.HandshakeContext(ctx); err == nil {
		first.Protocol = api.Protocol
		var text []byte
		if text, err = json.Marshal(first); err == nil {
			_, err = conn.Write(frame.Encode(text))
		}
	}
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return conn, nil
}

// Stream opens a connection and waits until the daemon has taken it.
func (m *Member) Stream(ctx context.Context, to api.NodeID, first api.PeerConn) (net.Conn, error) {
	conn, err := m.Open(ctx, to, first)
	if err != nil {
		return nil, errors.Join(ErrTurnedAway, err)
	}
	if err = conn.SetReadDeadline(time.Now().Add(timeout)); err == nil {
		var reported []byte
		if reported, err = frame.Read(conn, 1); err == nil && !bytes.Equal(reported, []byte{1}) {
			err = fmt.Errorf("it says %v", reported)
		}
	}
	if err != nil {
		conn.Close()
		return nil, errors.Join(ErrTurnedAway, err)
	}
	return conn, conn.SetReadDeadline(time.Time{})
}

// Call calls a method and gives the error that the daemon told, an *api.Error, or
// another one where it did not answer. Result may be nil.
func (m *Member) Call(ctx context.Context, to api.NodeID, method string, params, result any) error {
	m.mu.Lock()
	if m.calls == nil {
		m.calls = map[api.NodeID]*calls{}
	}
	c := m.calls[to]
	if c == nil {
		c = &calls{}
		m.calls[to] = c
	}
	m.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		var err error
		if c.conn, err = m.Stream(ctx, to, api.PeerConn{Carries: api.ConnCalls}); err != nil {
			return err
		}
	}
	answer, err := c.ask(method, params)
	if err != nil {
		c.conn.Close()
		c.conn = nil
		return err
	}
	if answer.Error != nil {
		reported := api.ResponseError{Code: answer.Error.Code, Message: answer.Error.Message, Data: answer.Error.Data}
		return reported.Err()
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    *api.ErrorData `json:"data"`
	} `json:"error"`
}

func (c *calls) ask(method string, params any) (a answer, err error) {
	c.last++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params})
	if err != nil {
		return a, err
	}
	if err := c.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return a, err
	}
	if _, err := c.conn.Write(frame.Encode(text)); err != nil {
		return a, err
	}
	for a.ID != c.last { // what comes by itself has none
		a = answer{}
		raw, err := frame.Read(c.conn, api.MaxMessageBytes)
		if err != nil {
			return a, err
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			return a, err
		}
	}
	return a, nil
}

// Learn reads the roster from a daemon.
func (m *Member) Learn(ctx context.Context, from api.NodeID) error {
	var log []cluster.SignedEntry
	for have := []string{}; ; {
		var result api.PeerRosterResult
		if err := m.Call(ctx, from, "peer.roster", api.PeerRosterParams{Have: have}, &result); err != nil {
			return err
		}
		for _, raw := range result.Entries {
			var e cluster.SignedEntry
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			log = append(log, e)
			have = []string{string(e.Hash())}
		}
		if !result.More {
			break
		}
	}
	_, err := m.net.change(func(*cluster.Roster) (*cluster.Roster, error) { return cluster.ReadRoster(log) })
	return err
}

// Adds makes nodes members, and tells a daemon.
func (m *Member) Adds(ctx context.Context, to api.NodeID, nodes ...*Member) error {
	return m.changes(ctx, to, func(r *cluster.Roster) (_ *cluster.Roster, err error) {
		for _, n := range nodes {
			if r, err = r.Add(m.Identity, n.Public(), time.Now()); err != nil {
				return nil, err
			}
		}
		return r, nil
	})
}

// Removes ends memberships, and tells a daemon.
func (m *Member) Removes(ctx context.Context, to api.NodeID, nodes ...*Member) error {
	return m.changes(ctx, to, func(r *cluster.Roster) (*cluster.Roster, error) {
		var ids []api.NodeID
		for _, n := range nodes {
			ids = append(ids, n.Node)
		}
		return r.Remove(m.Identity, time.Now(), ids...)
	})
}

func (m *Member) changes(ctx context.Context, to api.NodeID, f func(*cluster.Roster) (*cluster.Roster, error)) error {
	added, err := m.net.change(f)
	if err != nil {
		return err
	}
	params := api.PeerRosterParams{Have: m.net.Heads()}
	for _, e := range added {
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		params.Entries = append(params.Entries, raw)
	}
	return m.Call(ctx, to, "peer.roster", params, nil)
}

// Signs makes a document of the member's; a nil value deletes.
func (m *Member) Signs(kind api.Kind, name string, value any) (api.Document, error) {
	d := api.Document{Node: m.Node, Kind: kind, Name: name, At: api.TimeOf(time.Now()), Deleted: value == nil}
	d.SetVersion(m.net.version())
	if value != nil {
		if err := d.SetValue(value); err != nil {
			return d, err
		}
	}
	return d, d.Sign(m.cluster, m.Key())
}

// Puts gives a daemon documents, by as many calls as they take, and says which were
// refused.
func (m *Member) Puts(ctx context.Context, to api.NodeID, docs ...api.Document) (refused []api.Cause, err error) {
	for some := range slices.Chunk(docs, 50) {
		var result api.PeerPutResult
		if err := m.Call(ctx, to, "peer.put", api.PeerPutParams{Docs: some}, &result); err != nil {
			return refused, err
		}
		refused = append(refused, result.Refused...)
	}
	return refused, nil
}

// SignSpec signs a spec as a person's node.
func (m *Member) SignSpec(spec api.JobSpec) (api.Warrant, error) {
	raw, sig, err := api.SignSpec(m.cluster, m.Key(), spec)
	return api.Warrant{Spec: raw, SpecSig: sig}, err
}

// Forges is a spec of anybody's that the member signs in their place.
func (m *Member) Forges(spec api.JobSpec) (api.Warrant, error) {
	raw, err := json.Marshal(spec)
	return api.Warrant{Spec: raw, SpecSig: ed25519.Sign(m.Key(), api.SpecSigningBytes(m.cluster, raw))}, err
}

// Ends is the deletion of a job by one that is or was its home by these steps.
func (m *Member) Ends(id api.JobID, homes []api.Succession) (api.Document, error) {
	d, err := m.Signs(api.KindJob, string(id), nil)
	if err == nil {
		err = d.SetHomes(homes)
	}
	return d, errors.Join(err, d.Sign(m.cluster, m.Key()))
}
