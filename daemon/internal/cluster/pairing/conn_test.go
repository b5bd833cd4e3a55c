package pairing

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestBothEndsHaveOneSession(t *testing.T) {
	is := is.New(t)
	clock := newClock()
	one, other := newMac(t, 1, clock), newMac(t, 2, clock)
	a, b := connect(t, one, other)
	is.Equal(a.Session, b.Session)
	is.Equal(len(a.Session), sessionSize)
	is.Equal(a.Peer(), other.Node)
	is.Equal(b.Peer(), one.Node)
	c, _ := connect(t, one, other)
	is.True(!bytes.Equal(a.Session, c.Session))
}

func TestOverRefuses(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	m := newMac(t, 1, newClock())
	for name, change := range map[string]func(client, server *tls.Config){
		"another kind of key": func(_, server *tls.Config) {
			server.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
		},
		"TLS 1.2": func(client, server *tls.Config) {
			client.MinVersion, server.MinVersion = tls.VersionTLS12, tls.VersionTLS12
			client.MaxVersion = tls.VersionTLS12
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a, b := net.Pipe()
			t.Cleanup(func() { a.Close(); b.Close() })
			client, server := tlsConfig(t, m), tlsConfig(t, m)
			change(client, server)
			go tls.Server(b, server).Handshake()
			c := tls.Client(a, client)
			is.NoErr(c.Handshake())
			_, err := Over(c, "", netip.AddrPort{})
			is.True(err != nil)
		})
	}
}

func TestEnterRefusesToBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		a, _ := connect(t, typer, shower)
		is.Equal((<-typer.enter(t, a, Code{}, WantsJoin)).reason(), api.ReasonBadValue)
		is.Equal(len(disclosed(a)), 0)
		a, _ = connect(t, typer, shower)
		a.Session = nil
		is.Equal((<-typer.enter(t, a, mustCode(t, "7K3MQ2XA"), WantsJoin)).reason(), api.ReasonInternal)
		is.Equal(len(disclosed(a)), 0)
	})
}
