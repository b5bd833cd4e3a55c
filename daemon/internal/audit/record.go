package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"fulmen/daemon/api"
)

// maxText bounds the texts of an entry, in bytes.
const maxText = 96

// errDamaged is a record that is none.
var errDamaged = errors.New("not a record of the audit")

// keyOf is the key of an entry's record; the order of keys is that of numbers.
func keyOf(seq uint64) string { return fmt.Sprintf("%016x", seq) }

// known are the names that What can have.
var known = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, m := range append(api.Methods(), api.PeerMethods()...) {
		names[m.Name] = true
	}
	for _, kind := range api.PeerConnKind("").Values() {
		names[kind] = true
	}
	return names
})

// clean bounds what a caller has sent, so that it takes little room in memory, on the
// disk and in answers, and can always be read again.
func clean(e Entry) Entry {
	if !e.Node.Valid() {
		e.Node = ""
	}
	for _, p := range []*api.Principal{&e.By, &e.Of} {
		if !p.Valid() {
			*p = api.Principal{}
		}
	}
	if !known()[e.What] {
		e.What = api.AuditUnknown
	}
	e.Account, e.Subject = plain(e.Account), plain(e.Subject)
	e.Why, e.Reason = api.AuditWhy(plain(string(e.Why))), api.Reason(plain(string(e.Reason)))
	return e
}

// plain is a text in printable ASCII, cut where it is long.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune("<>&", r) { // encoding/json makes six bytes of each
			return '?'
		}
		return r
	}, s[:min(len(s), maxText+1)])
	if len(s) > maxText {
		return s[:maxText-3] + "..."
	}
	return s
}

// decode reads a record. Words of a newer version are kept.
func decode(raw []byte) (e api.AuditEntry, err error) {
	if err := json.Unmarshal(raw, &e); err != nil {
		return api.AuditEntry{}, err
	}
	c := e.AuditCall
	isPlain := true
	for _, text := range []string{c.Account, c.What, c.Subject, string(c.Why), string(c.Reason)} {
		isPlain = isPlain && text == plain(text)
	}
	if e.Seq == 0 || e.Count == 0 || c.What == "" || e.First.IsZero() || e.Last.Before(e.First.Time) || !isPlain {
		return api.AuditEntry{}, errDamaged
	}
	return e, nil
}
