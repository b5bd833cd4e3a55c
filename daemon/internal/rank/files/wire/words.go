package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"fulmen/daemon/api"
)

// Listing is what the sender says behind its list.
type Listing struct {
	// Version is the protocol's.
	Version int `json:"version"`
	// LeftOut are folders that are left out where nobody said otherwise, such as
	// .venv; the first [MaxLeftOut] of them.
	LeftOut []string `json:"left_out,omitempty"`
}

const (
	// Version is the protocol's.
	Version = 1
	// MaxLeftOut is the most names in a Listing.
	MaxLeftOut = 16
)

// DecodeListing reads a Listing.
func DecodeListing(data []byte) (Listing, error) {
	var l Listing
	if err := strict(data, &l); err != nil {
		return l, err
	}
	bad := l.Version != Version || len(l.LeftOut) > MaxLeftOut
	for _, name := range l.LeftOut {
		bad = bad || !ValidPath(name)
	}
	if bad {
		return Listing{}, fmt.Errorf("%w: the end of the list", ErrProtocol)
	}
	return l, nil
}

// Begin begins a file.
type Begin struct {
	// Index is its entry.
	Index int `json:"index"`
}

// DecodeBegin reads the beginning of the file with the given index.
func DecodeBegin(data []byte, index int) error {
	var b Begin
	if err := strict(data, &b); err != nil {
		return err
	}
	if b.Index != index {
		return fmt.Errorf("%w: file %d in place of %d", ErrProtocol, b.Index, index)
	}
	return nil
}

// Ending ends a file with how it was when its last byte had been read.
type Ending struct {
	// Again says that it changed while it was read: what came is void, and it
	// begins once more.
	Again bool `json:"again,omitempty"`
	// SHA256 is the hash of the contents, in hex.
	SHA256 string `json:"sha256,omitempty"`
	// Modified is when it was last changed, in nanoseconds since 1970.
	Modified int64 `json:"modified,omitempty"`
	// Changed and Fresh are as in [Entry].
	Changed int64 `json:"changed,omitempty"`
	Fresh   bool  `json:"fresh,omitempty"`
}

// DecodeEnding reads an Ending.
func DecodeEnding(data []byte) (Ending, error) {
	var e Ending
	if err := strict(data, &e); err != nil {
		return e, err
	}
	if e.Again && e != (Ending{Again: true}) || !e.Again && !validHash(e.SHA256) {
		return Ending{}, fmt.Errorf("%w: the end of a file", ErrProtocol)
	}
	return e, nil
}

// DecodeHashes reads hashes; at most as many as were asked for.
func DecodeHashes(data []byte, asked int) ([]string, error) {
	var hashes []string
	if err := strict(data, &hashes); err != nil {
		return nil, err
	}
	if len(hashes) > asked {
		return nil, fmt.Errorf("%w: more hashes than were asked for", ErrProtocol)
	}
	for _, h := range hashes {
		if h != "" && !validHash(h) {
			return nil, fmt.Errorf("%w: a hash", ErrProtocol)
		}
	}
	return hashes, nil
}

func validHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && strings.ToLower(s) == s
}

// maxText bounds each text of a refusal.
const maxText = 1 << 10

// DecodeRefusal reads why the other side will not go on. Reasons that this
// version does not know become sync_failed.
func DecodeRefusal(data []byte) (*api.Error, error) {
	var e api.Error
	if err := strict(data, &e); err != nil {
		return nil, err
	}
	info, known := api.LookupReason(e.Data.Reason)
	if !known {
		e.Data.Reason, info.Code = api.ReasonSyncFailed, api.CodePrecondition
	}
	e.Code = cmp.Or(info.Code, api.CodePrecondition)
	if e.Message == "" {
		e.Message = api.NewError(e.Data.Reason, "").Message
	}
	return bounded(&e), nil
}

// bounded is an error that fits a frame.
func bounded(e *api.Error) *api.Error {
	cut := func(s string) string {
		if len(s) <= maxText {
			return s
		}
		s = s[:maxText]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		return s + "..."
	}
	return &api.Error{Code: e.Code, Message: cut(e.Message), Data: api.ErrorData{
		Reason: e.Data.Reason, Subject: cut(e.Data.Subject), Remedy: cut(e.Data.Remedy), WaitingFor: cut(e.Data.WaitingFor),
	}}
}
