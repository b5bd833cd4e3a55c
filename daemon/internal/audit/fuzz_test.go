package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"fulmen/daemon/api"
)

// Whatever a record has become: it is refused, or is an entry within its bounds that
// is written as it was read.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"seq":1,"what":"peer.end","why":"home","first":"2026-11-21T12:00:00.000Z","last":"2026-11-21T12:00:00.000Z","count":1}`))
	f.Add([]byte(`{"seq":7,"by":"ada@cpv0cwypxp44qw0p","account":"guest","what":"job.stop","subject":"j4k2m9xq7","why":"refused","reason":"not_your_job","first":"2026-11-21T12:00:00.000Z","last":"2026-11-21T12:00:01.000Z","count":2,"dropped":3}`))
	f.Add([]byte(`{"seq":1,"count":1}`))
	f.Add([]byte(`{"seq":1,"what":"peer.end","why":"home","first":"2026-11-21T12:00:00.000Z","last":"2026-11-21T11:00:00.000Z","count":1}`))
	f.Add([]byte(`{"seq":1,"what":"peer.end","subject":"` + strings.Repeat("x", 2*maxText) + `","why":"home","first":"2026-11-21T12:00:00.000Z","last":"2026-11-21T12:00:00.000Z","count":1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decode(raw)
		if err != nil {
			if e != (api.AuditEntry{}) {
				t.Fatal("an error with an entry")
			}
			return
		}
		if len(e.Subject) > maxText || e.Last.Before(e.First.Time) {
			t.Fatalf("%s was read", raw)
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", raw, err)
		}
		if len(again) > api.MaxMessageBytes/api.AuditPage {
			t.Fatalf("a page of %s does not fit an answer", again)
		}
		if back, err := decode(again); err != nil || back != e {
			t.Fatalf("%s became %s: %v", raw, again, err)
		}
	})
}
