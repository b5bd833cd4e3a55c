package relay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"fulmen/daemon/api"
)

// keyBytes is how much a key has of chance.
const keyBytes = 16

// key is what opens a job's ports on the network.
func (r *Relay) key(job api.JobID) string {
	raw := make([]byte, sha256.Size)
	if r.cfg.Secret == nil {
		_, _ = rand.Read(raw) // never fails
	} else {
		mac := hmac.New(sha256.New, r.cfg.Secret)
		mac.Write([]byte("fulmen-publish-1 " + string(job)))
		raw = mac.Sum(nil)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:keyBytes]))
}

// Key is the bearer key of a job of which a port is open on the network; it is for
// the eyes of the job's owner. False where there is none.
func (r *Relay) Key(job api.JobID) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.open[job]
	if p == nil || p.key == "" {
		return "", false
	}
	return p.key, true
}
