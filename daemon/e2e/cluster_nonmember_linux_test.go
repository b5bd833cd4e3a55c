package e2e

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// pairALPN is what strangers who pair negotiate.
const pairALPN = "fulmen-pair/1"

// received keeps what comes in by a connection.
type received struct {
	net.Conn
	text bytes.Buffer
}

func (h *received) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	h.text.Write(p[:n])
	return n, err
}

// connect connects to a host's peer port from another one's namespace with a key
// of its own, and gives every byte that was answered.
func connect(t *testing.T, from *host, to string, config *tls.Config) ([]byte, error) {
	t.Helper()
	var answer []byte
	var refused error
	must(t, "a connection to "+to, from.Do(func() error {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp4", net.JoinHostPort(to, strconv.Itoa(api.PeerPort)))
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			return err
		}
		listener := &received{Conn: conn}
		secure := tls.Client(listener, config)
		if refused = secure.Handshake(); refused == nil {
			_, refused = secure.Read(make([]byte, 1)) // TLS 1.3 refuses a client's key after its own handshake
		}
		answer = listener.text.Bytes()
		return nil
	}))
	return answer, refused
}

// certificate is that of a key that nobody knows.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fulmen"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// Whoever is no member and knows no code hears that there is a service, and
// nothing else.
func (l *lab) testNonMember(t *testing.T) {
	is := is.New(t)
	east := newHost(t, l.program, "east", "")
	must(t, "plugging east", l.lan.Plug(east.Space, "lan0", "10.77.0.4/24"))
	call[api.ClusterPairResult](t, l.north.client, "cluster.pair", api.ClusterPairParams{Close: true})

	// An alert of TLS is 7 bytes; a certificate would be hundreds.
	const alert = 7
	own := certificate(t)
	for name, config := range map[string]*tls.Config{
		"without a protocol":         {},
		"as a member without a name": {NextProtos: []string{api.ALPN}},
		"as a member with a name":    {NextProtos: []string{api.ALPN}, ServerName: "0000000000000000.fulmen"},
		"as a Mac that pairs":        {NextProtos: []string{pairALPN}},
		"with an older TLS":          {NextProtos: []string{api.ALPN}, MaxVersion: tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			config.InsecureSkipVerify, config.Certificates = true, []tls.Certificate{own}
			answer, err := connect(t, east, "10.77.0.1", config)
			is.True(err != nil)           // it is refused
			is.True(len(answer) <= alert) // before anything is said
		})
	}

	east.boot(t)
	east.until(t, "node that is alone", soon, func(s sight) bool { return whole(s, []*host{east}) })
	_, err := east.join(l.north, "0000-0000")
	refused(t, err, api.ReasonPairingNotOpen)

	// Three wrong codes end a code, and then the right one is wrong too.
	code := l.open(t)
	east.sees(t, l.north)
	for left := api.MaxCodeTries - 1; left >= 0; left-- {
		reason := api.ReasonWrongCode
		if left == 0 {
			reason = api.ReasonCodeUsedUp
		}
		_, err := east.join(l.north, wrong(code))
		refused(t, err, reason)
	}
	// It is not announced any more; by its address north says why.
	_, err = client.Call[api.ClusterJoinResult](context.Background(), east.client, "cluster.join", api.ClusterJoinParams{Address: "10.77.0.1", Code: code})
	refused(t, err, api.ReasonCodeUsedUp)

	for _, d := range call[api.StateGetResult](t, east.client, "state.get", api.StateSelect{}).Docs {
		is.True(d.Node == east.id) // no document of the cluster
	}
	is.Equal(len(call[api.ClusterPeersResult](t, east.client, "cluster.peers", nil).Members), 1)
	for _, h := range l.all {
		is.Equal(len(call[api.ClusterPeersResult](t, h.client, "cluster.peers", nil).Members), 3)
	}
	is.Equal(len(east.connections(t)), 0)
	isAlone := func(v *client.View) bool { return len(v.Docs()) == 1 && v.Docs()[0].Node == east.id }
	documents(t, "east", east.client, "its own identity alone", soon, api.StateSelect{Kinds: []api.Kind{api.KindIdentity}}, isAlone)
}

// wrong is a code that is like another one and is not it.
func wrong(code string) string {
	last := byte('0')
	if code[len(code)-1] == last {
		last = '1'
	}
	return code[:len(code)-1] + string(last)
}

// refused ends a test in which something was not refused for the right reason.
func refused(t *testing.T, err error, reason api.Reason) {
	t.Helper()
	if !errors.Is(err, reason) {
		t.Fatalf("the answer is %v, and must be %s", err, reason)
	}
}
