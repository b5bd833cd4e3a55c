package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
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

// Valid reports whether all is in its range.
func (l Listing) Valid() bool {
	isBad := func(name string) bool { return !ValidPath(name) }
	return l.Version == Version && len(l.LeftOut) <= MaxLeftOut && !slices.ContainsFunc(l.LeftOut, isBad)
}

// Begin begins a file.
type Begin struct {
	// Index is its entry.
	Index int `json:"index"`
}

// Valid reports whether all is in its range.
func (b Begin) Valid() bool { return b.Index >= 0 }

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

// Valid reports whether all is in its range.
func (e Ending) Valid() bool {
	return e == Ending{Again: true} || !e.Again && validHash(e.SHA256)
}

// HashList are answers, each SHA-256 in hex or empty for a file that cannot be read any
// more.
type HashList []string

// Valid reports whether all is in its range.
func (l HashList) Valid() bool {
	return !slices.ContainsFunc(l, func(h string) bool { return h != "" && !validHash(h) })
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
	if err := Strict(data, &e); err != nil {
		return nil, err
	}
	info, known := api.LookupReason(e.Data.Reason)
	if !known {
		e.Data.Reason, info.Code = api.ReasonSyncFailed, api.CodePrecondition
	}
	e.Code = cmp.Or(info.Code, api.CodePrecondition)
	e.Message = cmp.Or(e.Message, api.NewError(e.Data.Reason, "").Message)
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

// PackTask is what the sender's daemon tells its end. It goes over the standard
// input, not the command line, which every account can read.
type PackTask struct {
	// Folder is what is copied, an absolute path.
	Folder string `json:"folder"`
}

// UnpackTask is what the receiver's daemon tells its end.
type UnpackTask struct {
	// Home is the account's home folder, an absolute path.
	Home string `json:"home"`
	// Area is the folder below it that holds the copy and what belongs to it, a
	// relative path.
	Area string `json:"area"`
	// Name is what the copy is called in it.
	Name string `json:"name"`
}

// Valid reports whether all is in its range.
func (t PackTask) Valid() bool { return path.IsAbs(t.Folder) }

// Valid reports whether all is in its range.
func (t UnpackTask) Valid() bool {
	return path.IsAbs(t.Home) && ValidPath(t.Area) && ValidPath(t.Name) && path.Base(t.Name) == t.Name
}

// CleanTask has copies removed that nobody needs any more.
type CleanTask struct {
	// Home is the account's home folder, an absolute path.
	Home string `json:"home"`
	// Area is the folder below it that holds a folder for each node, with one for
	// each copied folder in it; a relative path.
	Area string `json:"area"`
	// Before is when a copy must have been asked for last, in nanoseconds since 1970.
	Before int64 `json:"before"`
	// Keep are the copies that stay, as NODE/NAME.
	Keep []string `json:"keep,omitempty"`
}

// Valid reports whether all is in its range.
func (t CleanTask) Valid() bool { return path.IsAbs(t.Home) && ValidPath(t.Area) }
