package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
)

// PairALPN is what TLS negotiates between strangers who pair.
const PairALPN = "fulmen-pair/1"

// nameSuffix makes a name of a daily id, since the greeting of TLS has names.
const nameSuffix = ".fulmen"

var (
	errNotMember     = errors.New("the other side is not a member of this cluster")
	errWrongIdentity = errors.New("another node answers here")
	errUnrecognised  = errors.New("the caller did not name itself in the way that members do")
	errNotPairing    = errors.New("this node is not pairing with anybody now")
)

// certificate wraps a node's key. Nothing in it counts but the key: it has no
// issuer, and no time at which it ends.
func certificate(id cluster.Identity) (tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fulmen"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, id.Public(), id.Key())
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: id.Key()}, nil
}

// peerKey is the key by which the other side has proved itself.
func peerKey(state tls.ConnectionState) (ed25519.PublicKey, error) {
	if len(state.PeerCertificates) == 0 {
		return nil, errNotMember
	}
	key, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return nil, errNotMember
	}
	return key, nil
}

// isMember finds whose key it is.
func isMember(members Members, key ed25519.PublicKey) (api.NodeID, bool) {
	node := api.NodeIDFromKey(key)
	known, ok := members.PublicKey(node)
	return node, ok && key.Equal(known)
}

// base is what both sides have alike. Certificates have no issuer, so the
// standard checks are replaced by the pinned keys, of which refuse says why one is
// not taken; session tickets would let a removed node come back without showing its key.
func (t *Transport) base(alpn string, refuse func(ed25519.PublicKey) error) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{t.certificate}, MinVersion: tls.VersionTLS13, NextProtos: []string{alpn},
		ClientAuth: tls.RequireAnyClientCert, InsecureSkipVerify: true, SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			key, err := peerKey(state)
			if err == nil {
				err = refuse(key)
			}
			return err
		},
	}
}

// pairing is the configuration of both sides where strangers pair: what is behind a key is
// found out later.
func (t *Transport) pairing() *tls.Config {
	return t.base(PairALPN, func(ed25519.PublicKey) error { return nil })
}

// accepting is the configuration of the side that was dialled. It decides what
// to be before it shows its certificate.
func (t *Transport) accepting() *tls.Config {
	members := t.base(api.ALPN, func(key ed25519.PublicKey) error {
		if _, ok := isMember(t.options.Members, key); !ok {
			return errNotMember
		}
		return nil
	})
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			for _, alpn := range hello.SupportedProtos {
				switch alpn {
				case PairALPN:
					if !t.options.IsPairing() {
						return nil, errNotPairing
					}
					return t.pairing(), nil
				case api.ALPN:
					id, ok := strings.CutSuffix(hello.ServerName, nameSuffix)
					if !ok || !cluster.IsDailyID(id, t.options.Members.Cluster(), t.options.Identity.Node, cluster.UseDial, t.options.Clock.Now()) {
						return nil, errUnrecognised
					}
					return members, nil
				}
			}
			return nil, errUnrecognised
		},
	}
}

// dialling is the configuration for calling a member.
func (t *Transport) dialling(node api.NodeID) *tls.Config {
	config := t.base(api.ALPN, func(key ed25519.PublicKey) error {
		switch found, ok := isMember(t.options.Members, key); {
		case !ok:
			return errNotMember
		case found != node:
			return errWrongIdentity
		}
		return nil
	})
	config.ServerName = cluster.DailyID(t.options.Members.Cluster(), node, cluster.UseDial, t.options.Clock.Now()) + nameSuffix
	return config
}
