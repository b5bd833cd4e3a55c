package pairing

import (
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"

	"fulmen/daemon/api"
)

const (
	// exporterLabel names what is taken out of the TLS connection for CPace.
	exporterLabel = "EXPORTER-fulmen-pair"
	// sessionSize is its length in bytes.
	sessionSize = 32
)

// Conn is a connection with a stranger: it has proved that it holds its key, and
// nothing else.
type Conn struct {
	net.Conn
	// PeerKey is the key that the other side has shown to hold.
	PeerKey ed25519.PublicKey
	// Session is what the two ends of this very connection have alike and nobody
	// else has (RFC 8446, 7.5). It covers the keys of the exchange and the dialled
	// side's certificate, not the dialler's, so both keys are in the proof too.
	Session []byte
	// Interface is this node's interface; empty = not known.
	Interface string
	// Remote is where the other side is.
	Remote netip.AddrPort
}

// Over takes a connection whose handshake is done, with certificates of ed25519
// keys on both sides.
func Over(c *tls.Conn, iface string, remote netip.AddrPort) (Conn, error) {
	state := c.ConnectionState()
	if state.Version != tls.VersionTLS13 || len(state.PeerCertificates) == 0 {
		return Conn{}, errors.New("pairing needs TLS 1.3 and the other side's key")
	}
	key, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return Conn{}, errors.New("the other side's key is not of ed25519")
	}
	session, err := state.ExportKeyingMaterial(exporterLabel, nil, sessionSize)
	if err != nil {
		return Conn{}, err
	}
	return Conn{Conn: c, PeerKey: key, Session: session, Interface: iface, Remote: remote}, nil
}

// Peer is the id that the other side's key makes.
func (c Conn) Peer() api.NodeID { return api.NodeIDFromKey(c.PeerKey) }
