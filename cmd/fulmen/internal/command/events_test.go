package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestAudit: all pages are read, the newest first, and shown the oldest first.
func TestAudit(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	ada := api.Principal{User: "ada", Node: mini}
	var asked []api.EventAuditParams
	r.daemon.Set("event.audit", func(raw json.RawMessage) (any, error) {
		var p api.EventAuditParams
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		asked = append(asked, p)
		seq := uint64(7)
		if p.Before != 0 {
			seq = p.Before - 1
		}
		e := api.AuditEntry{Seq: seq, First: before(time.Minute), Last: before(time.Minute), Count: 1,
			AuditCall: api.AuditCall{Node: mini, By: ada, What: "peer.start", Subject: fmt.Sprintf("j4k2m9xq7/%d/0", seq), Why: api.AuditHome}}
		return api.EventAuditResult{Entries: []api.AuditEntry{e}, More: seq > 5}, nil
	})
	is.Equal(r.run("events", "--audit", "--since", "24h"), 0)
	is.Equal(r.out.String(), `WHEN         WHY   WHO DID WHAT
05-01 11:59  home  ada@mac-mini: peer.start j4k2m9xq7/5/0
05-01 11:59  home  ada@mac-mini: peer.start j4k2m9xq7/6/0
05-01 11:59  home  ada@mac-mini: peer.start j4k2m9xq7/7/0
`)
	since := before(24 * time.Hour)
	is.Equal(asked, []api.EventAuditParams{{Since: since}, {Since: since, Before: 7}, {Since: since, Before: 6}})

	r.out = lines{}
	is.Equal(r.run("events", "--audit", "--json"), 0)
	all := strings.Split(strings.TrimSpace(r.out.String()), "\n")
	is.Equal(len(all), 3) // one a line
	var e api.AuditEntry
	is.NoErr(json.Unmarshal([]byte(all[0]), &e))
	is.Equal(e.Seq, uint64(5))

	is.Equal(r.run("events", "--audit", "--follow"), 1)
}
