package rank

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A probe by a command says how it failed and what it printed last, also by a daemon that has
// just been started again, and of a rank that is not here.
func TestProbesByACommand(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec("sleep 1000"))
	ref := p.Rank
	m.mustStart(p)
	m.until(ref, api.RankRunning)
	for script, want := range map[string]string{
		"exit 0": "",
		"echo a; echo b; echo c; printf 'not \\033[1myet.\\n'; exit 3": "sh ended with exit code 3, at last: b | c | not [1myet",
		"kill -KILL $$":         "sh was ended by SIGKILL",
		"echo slow; sleep 1000": "sh did not end within 300ms, at last: slow",
	} {
		within := time.Minute
		if strings.HasPrefix(script, "echo slow") {
			within = 300 * time.Millisecond
		}
		got := ""
		if err := m.ranks.Probe(t.Context(), ref, []string{"sh", "-c", script}, within); err != nil {
			got = err.Error()
		}
		is.Equal(got, want)
	}
	m.kill()
	m = m.boot()
	is.NoErr(m.ranks.Probe(t.Context(), ref, []string{"true"}, time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is.True(m.ranks.Probe(ctx, ref, []string{"sleep", "1000"}, time.Minute) != nil)
	is.Equal(m.ranks.Probe(t.Context(), api.RankRef{Job: ref.Job, Attempt: 9}, []string{"true"}, time.Minute).Error(), "the rank is not here")
}
