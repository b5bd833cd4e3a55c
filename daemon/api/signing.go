package api

import (
	"crypto/ed25519"
	"encoding/binary"
	"maps"
	"slices"
)

const (
	// DocumentContext begins what the signature of a document covers.
	DocumentContext = "fulmen-doc-1"
	// SpecContext begins what the signature of a job's spec covers.
	SpecContext = "fulmen-spec-2"
)

// SigningBytes is what a document's signature covers, the same on every node
// whatever the order and spacing of the JSON around the value:
//
//	"fulmen-doc-1", the cluster id (32 characters)
//	text node, text kind, text name
//	8 bytes inc, 8 bytes seq
//	text at
//	1 byte: 1 if deleted, plus 2 if simulated
//	4 bytes count of unknown, then for each, by name: text name, text reason
//	4 bytes count of extra fields, then for each, by name: text name, text JSON
//	text value (the exact bytes; empty if deleted)
//
// Numbers are big-endian; text is 4 bytes of length, then the bytes. Extra
// fields of a newer version are covered, so that an older node can verify
// what it does not understand.
func (d *Document) SigningBytes(cluster ClusterID) []byte {
	b := make([]byte, 0, 256+len(d.Value))
	b = append(append(b, DocumentContext...), cluster...)
	b = appendText(b, string(d.Node))
	b = appendText(b, string(d.Kind))
	b = appendText(b, d.Name)
	b = binary.BigEndian.AppendUint64(b, d.Inc)
	b = binary.BigEndian.AppendUint64(b, d.Seq)
	b = appendText(b, d.At.String())
	var flags byte
	if d.Deleted {
		flags |= 1
	}
	if d.Simulated {
		flags |= 2
	}
	b = append(b, flags)
	b = binary.BigEndian.AppendUint32(b, uint32(len(d.Unknown)))
	for _, field := range slices.Sorted(maps.Keys(d.Unknown)) {
		b = appendText(appendText(b, field), string(d.Unknown[field]))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(d.Extra)))
	for _, field := range slices.Sorted(maps.Keys(d.Extra)) {
		b = appendText(appendText(b, field), string(d.Extra[field]))
	}
	return appendText(b, string(d.Value))
}

// Sign checks the document and sets its signature. The key must be the node's.
func (d *Document) Sign(cluster ClusterID, key ed25519.PrivateKey) error {
	if err := d.Check(); err != nil {
		return err
	}
	if NodeIDFromKey(key.Public().(ed25519.PublicKey)) != d.Node {
		return NewError(ReasonNotTheWriter, d.Key().String())
	}
	d.Sig = ed25519.Sign(key, d.SigningBytes(cluster))
	return nil
}

// Verify refuses a document that breaks a rule, that another node's key
// belongs to, or whose signature does not fit.
func (d *Document) Verify(cluster ClusterID, key ed25519.PublicKey) error {
	if err := d.Check(); err != nil {
		return err
	}
	if len(key) != ed25519.PublicKeySize || NodeIDFromKey(key) != d.Node {
		return NewError(ReasonNotTheWriter, d.Key().String())
	}
	if !ed25519.Verify(key, d.SigningBytes(cluster), d.Sig) {
		return NewError(ReasonBadSignature, d.Key().String())
	}
	return nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}
